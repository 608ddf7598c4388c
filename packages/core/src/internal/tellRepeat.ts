import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Recoverable } from "../Recovery.js"

/**
 * The line at debug level that every repeat has; `what` goes on after "Attempt 2", such as "of interview.mp4".
 *
 * @internal
 */
export const tellRepeat = (what: string, error: Recoverable, wait: Duration.Duration): Effect.Effect<void> =>
  Effect.logDebug(`Attempt ${error.attempts} ${what} failed; the next in ${Duration.format(wait)}`, error)
