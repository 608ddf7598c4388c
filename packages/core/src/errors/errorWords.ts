/** What several errors say. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { spelled } from "../base/effect.js"
import { printable } from "../base/text.js"
import { arrival, causes, systemCode } from "../ConnectionError.js"
import type { Recoverable } from "../Recovery.js"

/** What helps if a 507 says that there is no room for the bytes: not another attempt soon. */
export const noRoom = "There is no room left: whoever runs the service has to make some."

/** Whether an answer may be another one soon: of a server that is busy, or of a connection that is the wrong one. */
export const isForNow = (status: number): boolean => status >= 500 || [408, 421, 423, 425].includes(status)

/** What helps if a network's page stands in for a response. */
export const signIn = "A page came instead: sign in to the network, or check the proxy, then try again."

/** The debug log line of every retry; `what` follows "Attempt 2", such as "of interview.mp4". */
export const tellRepeat = (
  what: string,
  error: Recoverable,
  wait: Duration.Duration,
  attempts = error.attempts
): Effect.Effect<void> =>
  Effect.logDebug(printable(`Attempt ${attempts} ${what} failed; retrying in ${spelled(wait)}`), error)

/**
 * Whether a failed transport proves that the request never arrived: a client may know, otherwise its system error code
 * tells.
 */
export const arrivalOf = (error: unknown): "no" | "unknown" =>
  causes(error).some((cause) => Predicate.hasProperty(cause, "arrived") && cause.arrived === "no")
    ? "no"
    : arrival(systemCode(error))

/**
 * A copy of an error with some fields changed: whoever gave it may give the same instance again, as a fake service does.
 */
export const changedError = <E extends object>(error: E, fields: Partial<E>): E =>
  Reflect.construct(error.constructor, [{ ...error, ...fields }])
