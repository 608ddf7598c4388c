/** Who has ended a run, as its exit says it. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as HashSet from "effect/HashSet"

// No real fiber has such an id: in the cause of an exit, it says who interrupted
const terminal = FiberId.runtime(-1, 0)

const asked = FiberId.runtime(-2, 0)

// the second exists only on Windows: it is Ctrl+Break, and elsewhere nobody emits it
const signals = ["SIGHUP", "SIGBREAK"] as const

/**
 * Interrupts a program when its terminal goes away, as `NodeRuntime` does on `SIGINT` and `SIGTERM`: resources are
 * closed and removed. A second signal ends the process at once.
 */
export const interrupting = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const listener = () => fiber.unsafeInterruptAsFork(terminal)
    return Effect.acquireUseRelease(
      Effect.sync(() => signals.forEach((signal) => process.once(signal, listener))),
      () => program,
      () => Effect.sync(() => signals.forEach((signal) => process.off(signal, listener)))
    )
  })

/** Marks the interruption of what runs until it is interrupted: asked to end, it has done what it should. */
export const endingWell = <A, E, R>(service: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.onInterrupt(service, () =>
    Effect.withFiberRuntime((fiber) => {
      fiber.unsafeInterruptAsFork(asked)
      // the mark is taken in between two steps
      return Effect.yieldNow()
    }))

const isBy = (who: FiberId.FiberId) => <E>(cause: Cause.Cause<E>): boolean =>
  HashSet.has(Cause.interruptors(cause), who)

/** Whether its terminal went away. */
export const isHangUp = isBy(terminal)

/** Whether it was asked to end, and has. */
export const isWell = isBy(asked)
