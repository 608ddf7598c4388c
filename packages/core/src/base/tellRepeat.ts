import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Recoverable } from "../Recovery.js"
import { printable } from "./printable.js"
import { spelled } from "./spelled.js"

/** The debug log line of every retry; `what` follows "Attempt 2", such as "of interview.mp4". */
export const tellRepeat = (
  what: string,
  error: Recoverable,
  wait: Duration.Duration,
  attempts = error.attempts
): Effect.Effect<void> =>
  Effect.logDebug(printable(`Attempt ${attempts} ${what} failed; retrying in ${spelled(wait)}`), error)
