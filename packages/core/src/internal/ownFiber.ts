import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * Runs an effect in a fiber of its own, and leaves nothing of it behind. Inside a concurrent `Effect.forEach`, what races
 * belongs to the fiber around the `forEach`: a race outlives the failure of what runs beside it, and a time-out is waited
 * for. In a fiber of its own, both end at once with it. It is nobody's child: a fiber tells its children of an interruption
 * also where it may not be interrupted itself.
 *
 * @internal
 */
export const inOwnFiber = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      // as an exit: of a fiber that fails, Effect's log says that its error is unhandled
      Effect.forkDaemon(Effect.exit(restore(effect))),
      (fiber) => Effect.onInterrupt(restore(Effect.flatten(Fiber.join(fiber))), () => Fiber.interrupt(fiber))
    )
  )
