import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * How long an effect takes. `Effect.timed` dies under the test clock at a fraction of a millisecond, where any jittered
 * schedule of an application leads.
 *
 * @internal
 */
export const timed: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<[Duration.Duration, A], E, R> = Effect
  .timedWith(Effect.map(Effect.clock, (clock) => clock.unsafeCurrentTimeNanos()))
