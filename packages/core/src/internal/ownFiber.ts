import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

/**
 * Runs an effect in a fiber without a parent, waits for it as told, and leaves nothing of it running. It has no parent
 * because a fiber interrupts its children even while it is itself uninterruptible. What runs in it is interruptible
 * wherever this runs, so that within it a failure or a timeout ends at once what runs beside it; from outside, only this
 * fiber interrupts it.
 *
 * @internal
 */
export const inFiberWhile = <A, E, R, B, E2>(
  effect: Effect.Effect<A, E, R>,
  wait: (fiber: Fiber.RuntimeFiber<Exit.Exit<A, E>>) => Effect.Effect<B, E2>
): Effect.Effect<B, E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      // as an Exit, because Effect logs the failure of a forked fiber as unhandled
      Effect.forkDaemon(Effect.exit(Effect.interruptible(effect))),
      (fiber) => Effect.onInterrupt(restore(wait(fiber)), () => Fiber.interrupt(fiber))
    )
  )

/**
 * Runs an effect in a fiber of its own. Inside a concurrent `Effect.forEach`, the fibers of a race belong to the fiber
 * around the `forEach`: a race outlives the failure of what runs beside it, and a timeout is waited for. In a fiber of
 * its own, both end at once with it.
 *
 * @internal
 */
export const inOwnFiber = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  inFiberWhile(effect, (fiber) => Effect.flatten(Fiber.join(fiber)))

/**
 * Fails when the effect is late, and cuts it even in an uninterruptible region such as acquireRelease.
 *
 * @internal
 */
export const cutWhenLate =
  <E2>(limit: { readonly duration: Duration.Duration; readonly onTimeout: () => E2 }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> =>
    inOwnFiber(Effect.timeoutFail(effect, limit))
