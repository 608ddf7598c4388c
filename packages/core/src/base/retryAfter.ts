/** The `Retry-After` header, in both its forms. */
import * as Duration from "effect/Duration"
import { httpDate } from "./httpDate.js"

/**
 * How long a server asks to wait: seconds, or an HTTP date (RFC 9110, 10.2.3) relative to the server's own `Date` if
 * the response has one. A value that cannot be parsed, or lies in the past, is ignored.
 */
export const fromHeaders = (
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
