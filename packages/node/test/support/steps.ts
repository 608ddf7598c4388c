import { Effect, Exit, Layer, RuntimeFlags, Supervisor } from "effect"
import { createHook } from "node:async_hooks"

/** What an effect took: its steps in Effect's run loop, its fibers, and its calls of the file system. No noise moves one. */
export interface Steps {
  readonly steps: number
  readonly fibers: number
  readonly fileCalls: number
}

// as Node names what goes to a thread of its pool for a file
const ofFiles: ReadonlySet<string> = new Set(["FSREQCALLBACK", "FSREQPROMISE", "FILEHANDLECLOSEREQ"])

class Counter extends Supervisor.AbstractSupervisor<void> {
  steps = 0
  fibers = 0
  override get value() {
    return Effect.void
  }
  override onStart() {
    this.fibers++
  }
  override onEffect() {
    this.steps++
  }
}

const counting = () => {
  const counter = new Counter()
  let fileCalls = 0
  const hook = createHook({
    init: (_, type) => {
      if (ofFiles.has(type)) fileCalls++
    }
  }).enable()
  return {
    layer: Layer.merge(Supervisor.addSupervisor(counter), RuntimeFlags.enableOpSupervision),
    now: (): Steps => ({ steps: counter.steps, fibers: counter.fibers, fileCalls }),
    end: Effect.sync(() => hook.disable())
  }
}

/** Counts what is made in a layer, until the scope closes. */
export const counter = Effect.acquireRelease(Effect.sync(counting), ({ end }) => end)

/** The result of an effect, and what it took. */
export const counted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, Steps], E, R> =>
  Effect.suspend(() => {
    const { end, layer, now } = counting()
    return Effect.exit(effect).pipe(
      Effect.ensuring(end),
      Effect.provide(layer),
      Effect.flatMap((exit) => Exit.map(exit, (value) => [value, now()]))
    )
  })

/** What one of so many more took. */
export const between = (few: Steps, many: Steps, by: number): Steps => ({
  steps: (many.steps - few.steps) / by,
  fibers: (many.fibers - few.fibers) / by,
  fileCalls: (many.fileCalls - few.fileCalls) / by
})
