/**
 * Reads sizes, ages and dates as people write them.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const powers = ["", "k", "m", "g", "t"]

/**
 * A number of bytes: `500`, `20M`, `1.5 GB`, `64KiB`. Without an `i`, units are decimal, as the service counts.
 *
 * @since 0.1.0
 * @category parsing
 */
export const bytes = (text: string): Option.Option<number> => {
  const [, number, unit = "", binary] = /^(\d+(?:\.\d+)?) ?([kmgt]?)(i?)b?$/i.exec(text.trim()) ?? []
  if (number === undefined || (binary !== "" && unit === "")) return Option.none()
  const base = binary === "" ? 1000 : 1024
  return Option.some(Math.round(Number(number) * base ** powers.indexOf(unit.toLowerCase())))
}

const unitsOfTime: Readonly<Record<string, number>> = {
  s: Duration.toMillis("1 second"),
  m: Duration.toMillis("1 minute"),
  h: Duration.toMillis("1 hour"),
  d: Duration.toMillis("1 day"),
  w: Duration.toMillis("1 week")
}

const age = (text: string): Option.Option<number> => {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?) ?(s|m|h|d|w)(?:[a-z]*)\s*/gi)]
  return parts.length === 0 || parts.map(([part]) => part).join("") !== text
    ? Option.none()
    : Option.some(
      parts.reduce((sum, [, number, unit = ""]) => sum + Number(number) * (unitsOfTime[unit.toLowerCase()] ?? 0), 0)
    )
}

/**
 * A point in time, in milliseconds since 1970: a date such as `2026-01-31` or `2026-01-31T08:00:00Z`, or how long ago it
 * was, such as `36h`, `2d` or `1h 30m`.
 *
 * @since 0.1.0
 * @category parsing
 */
export const time = (text: string, now: number): Option.Option<number> => {
  const given = text.trim()
  return /^\d{4}-\d\d-\d\d/.test(given)
    ? Option.map(DateTime.make(given), ({ epochMillis }) => epochMillis)
    : Option.map(age(given), (millis) => now - millis)
}
