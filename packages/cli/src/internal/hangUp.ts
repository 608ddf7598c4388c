import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as HashSet from "effect/HashSet"

// No real fiber has this id: in the cause of an exit, it says who interrupted.
const terminal = FiberId.runtime(-1, 0)

/**
 * Interrupts a program when its terminal goes away (`SIGHUP`), as `NodeRuntime` does on `SIGINT` and `SIGTERM`:
 * resources are closed and removed. A second signal ends the process at once.
 *
 * @internal
 */
export const interrupting = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime((fiber) => {
    const listener = () => fiber.unsafeInterruptAsFork(terminal)
    return Effect.acquireUseRelease(
      Effect.sync(() => process.once("SIGHUP", listener)),
      () => program,
      () => Effect.sync(() => process.off("SIGHUP", listener))
    )
  })

/** @internal */
export const isIn = <E>(cause: Cause.Cause<E>): boolean => HashSet.has(Cause.interruptors(cause), terminal)
