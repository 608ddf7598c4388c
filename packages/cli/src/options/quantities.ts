/** Reads sizes, ages and dates as people write them. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const powers = ["", "k", "m", "g", "t"]

/** A number of bytes: `500`, `20M`, `1.5 GB`, `64KiB`. Without an `i`, units are decimal, as the service counts. */
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

const written = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

// What is no day, such as the 30th of February, would be taken for another
const isDay = (day: string): boolean =>
  Option.exists(DateTime.make(`${day}T00:00:00Z`), (date) => DateTime.formatIso(date).startsWith(day))

const date = (text: string, zone: DateTime.TimeZone): Option.Option<number> => {
  const [, day = "", time = "00:00", offset] = written.exec(text) ?? []
  if (!isDay(day)) return Option.none()
  const asUtc = DateTime.make(`${day}T${time}${offset?.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2").toUpperCase() ?? "Z"}`)
  if (offset !== undefined) return Option.map(asUtc, DateTime.toEpochMillis)
  return asUtc.pipe(
    Option.flatMap((utc) => DateTime.makeZoned(DateTime.toPartsUtc(utc), { timeZone: zone, adjustForTimeZone: true })),
    Option.map(DateTime.toEpochMillis)
  )
}

/**
 * A point in time, in milliseconds since 1970: a date such as `2026-01-31`, `2026-01-31T08:00` or `2026-01-31T08:00Z`, or
 * how long ago it was, such as `36h`, `2d` or `1h 30m`. A date without a zone is that of the given one, by default this
 * machine's.
 */
export const time = (
  text: string,
  now: number,
  zone: DateTime.TimeZone = DateTime.zoneMakeLocal()
): Option.Option<number> => {
  const given = text.trim()
  return /^\d{4}-/.test(given) ? date(given, zone) : Option.map(age(given), (millis) => now - millis)
}
