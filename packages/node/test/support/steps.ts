import { Effect, Exit, Layer, RuntimeFlags, Supervisor } from "effect"

/** What an effect took: its steps in Effect's run loop, and its fibers. No noise moves either. */
export interface Steps {
  readonly steps: number
  readonly fibers: number
}

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

/** The result of an effect, and what it took. */
export const counted = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<readonly [A, Steps], E, R> =>
  Effect.suspend(() => {
    const counter = new Counter()
    return Effect.exit(effect).pipe(
      Effect.provide(Layer.merge(Supervisor.addSupervisor(counter), RuntimeFlags.enableOpSupervision)),
      Effect.flatMap((exit) => Exit.map(exit, (value) => [value, { steps: counter.steps, fibers: counter.fibers }]))
    )
  })

/** What one of so many more took. */
export const between = (few: Steps, many: Steps, by: number): Steps => ({
  steps: (many.steps - few.steps) / by,
  fibers: (many.fibers - few.fibers) / by
})
