/** Dates of HTTP, and durations that JSON can hold. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AnyNumber } from "../Recovery.js"

// Years have four digits in HTTP, and an offset from a later one leads to times that no Date can hold
const yearTenThousand = Date.UTC(10_000)

/**
 * The time of an HTTP date in milliseconds, if it can be parsed. The asctime format names no time zone, so
 * JavaScript would read it as local time; in HTTP it is GMT.
 */
export const httpDate = (text = ""): number | undefined => {
  const time = Date.parse(/^\w{3} \w{3} [\d ]\d \d\d:\d\d:\d\d \d{4}$/.test(text) ? `${text} GMT` : text)
  return time < yearTenThousand ? time : undefined
}

export const validDate = (date: Date): Option.Option<Date> =>
  Number.isNaN(date.getTime()) ? Option.none() : Option.some(date)

/**
 * How long a server asks to wait: seconds, or an HTTP date (RFC 9110, 10.2.3) relative to the server's own `Date` if
 * the response has one. A value that cannot be parsed, or lies in the past, is ignored.
 */
export const retryAfterIn = (
  headers: Readonly<Record<string, string | undefined>>,
  now: number
): Duration.Duration | undefined => {
  const header = headers["retry-after"]?.trim()
  if (header === undefined || header === "") return undefined
  if (/^\d+(\.\d+)?$/.test(header)) {
    // Effect formats a duration by its nanoseconds, and an error's message must not throw
    return Number.isFinite(Number(header) * 1e9) ? Duration.seconds(Number(header)) : undefined
  }
  if (!/^[A-Za-z]{3,9},? /.test(header)) return undefined
  const at = httpDate(header)
  const serverNow = httpDate(headers["date"]) ?? now
  return at === undefined || at < serverNow ? undefined : Duration.millis(at - serverNow)
}

/**
 * A duration in milliseconds that may be infinite, which is `"Infinity"` in JSON. Effect's own encoding fails for more
 * milliseconds than an integer can represent exactly, and an upload that has almost stopped takes longer than that.
 */
export const AnyDuration = /* #__PURE__ */ Schema.transform(
  AnyNumber.pipe(Schema.nonNegative()),
  Schema.DurationFromSelf.annotations({
    arbitrary: () => (fc) =>
      fc.oneof(
        fc.constant(Duration.infinity),
        fc.maxSafeNat().map(Duration.millis),
        fc.nat().map((nanos) => Duration.nanos(BigInt(nanos)))
      )
  }),
  { strict: true, decode: (millis) => Duration.millis(millis), encode: Duration.toMillis }
).annotations({ identifier: "AnyDuration" })
