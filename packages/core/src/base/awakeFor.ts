import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { timed } from "./timed.js"

/** Browsers let the timers of a page in the background fire once per minute. */
export const longestLateness = 120_000

/**
 * Waits for this long. If its timer fires minutes late, the computer slept, and it waits once more.
 *
 * @internal
 */
export const awakeFor = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.flatMap(
    timed(Effect.sleep(duration)),
    ([took]) =>
      Duration.toMillis(took) - Duration.toMillis(duration) < longestLateness ? Effect.void : awakeFor(duration)
  )
