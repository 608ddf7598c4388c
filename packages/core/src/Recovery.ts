/**
 * What a retry can do about a failure. Every error of Stevedore has one, so retries are decided by category, never by
 * parsing messages.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { spelled } from "./base/effect.js"

/**
 * What can help against a failure:
 *
 * - `retry`: the same request again, after a backoff
 * - `retryOnce`: the same request again, once, on a new connection
 * - `slowDown`: the same request again, after everything has slowed down
 * - `newSession`: only a new upload session
 * - `none`: no retry helps; the request, the source or the setup has to change
 *
 * @category models
 */
export const Recovery = /* #__PURE__ */ Schema.Literal("retry", "retryOnce", "slowDown", "newSession", "none")
  .annotations({
    identifier: "Recovery"
  })

/** @category models */
export type Recovery = typeof Recovery.Type

/**
 * What can help against a failure, as the failure says.
 *
 * @category models
 */
export interface Recovering {
  readonly recovery: Recovery
}

/**
 * What the retry policy reads from an error.
 *
 * @category models
 */
export interface Recoverable extends Recovering {
  /** How many times the request was made. */
  readonly attempts: number
  /** How long the server asked to wait, if it did. */
  readonly retryAfter?: Duration.Duration | undefined
}

/**
 * The field that every error has: how many times the request was made; 0 if it was refused before any request.
 *
 * @category fields
 */
export const attempts = Schema.NonNegativeInt.pipe(
  Schema.propertySignature,
  Schema.withConstructorDefault(() => 1)
)

/**
 * The same field for errors that are raised before any request: 0 attempts.
 *
 * @category fields
 */
export const noAttempts = Schema.NonNegativeInt.pipe(
  Schema.propertySignature,
  Schema.withConstructorDefault(() => 0)
)

/**
 * A number from the caller that an error repeats. It may be NaN or infinite, which JSON cannot represent, but the error
 * must still be encodable.
 *
 * @internal
 */
export const AnyNumber = Schema.transform(
  Schema.Union(Schema.JsonNumber, Schema.Literal("NaN", "Infinity", "-Infinity")),
  Schema.Number,
  {
    strict: true,
    decode: Number,
    encode: (number) =>
      Number.isFinite(number) ? number : Number.isNaN(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity"
  }
).annotations({ identifier: "AnyNumber" })

/**
 * A finite duration, encoded in milliseconds. JSON cannot represent an infinite one, and errors are sent as JSON.
 *
 * @internal
 */
export const FiniteDuration = Schema.DurationFromMillis.pipe(
  Schema.filter(Duration.isFinite, { arbitrary: () => (fc) => fc.maxSafeNat().map(Duration.millis) })
).annotations({ identifier: "FiniteDuration" })

/**
 * The field of errors that can carry a wait requested by the server. Encoded in milliseconds.
 *
 * @internal
 */
export const retryAfter = Schema.optional(FiniteDuration)

/**
 * Whether the same request may be made again at all. `failures` is how many attempts failed with an error that one
 * retry may help against, including this one. Defaults to all of them.
 *
 * @internal
 */
export const isRepeatable = (error: Recoverable, failures = error.attempts): boolean =>
  error.recovery === "retry" || error.recovery === "slowDown" || (error.recovery === "retryOnce" && failures < 2)

/**
 * A sentence about the number of attempts, for messages.
 *
 * @internal
 */
export const describeAttempts = (error: Recoverable): string =>
  error.attempts === 0
    ? "nothing was sent"
    : error.attempts === 1
    ? "after 1 attempt"
    : `after ${error.attempts} attempts`

/**
 * A sentence about the wait that the server requested, for messages; empty if it requested none.
 *
 * @internal
 */
export const describeWait = (error: Recoverable): string =>
  error.retryAfter === undefined ? "" : `; the server asks to wait ${spelled(error.retryAfter)}`
