import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as HashSet from "effect/HashSet"

// No real fiber has this id: in the cause of an exit, it says who interrupted.
const terminal = FiberId.runtime(-1, 0)

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

export const isIn = <E>(cause: Cause.Cause<E>): boolean => HashSet.has(Cause.interruptors(cause), terminal)
