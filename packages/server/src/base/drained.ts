import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * Waits in a finalizer for what is under way, no longer than the limit: 30 seconds by default. What is waited for can be
 * interrupted, so that the limit ends it. The limit itself cannot: the fiber of a finalizer may be one that was interrupted,
 * and would end at once.
 */
export const drained = <R>(
  underWay: Effect.Effect<unknown, never, R>,
  limit: Duration.DurationInput = "30 seconds"
): Effect.Effect<void, never, R> => Effect.asVoid(Effect.timeoutOption(Effect.interruptible(underWay), limit))
