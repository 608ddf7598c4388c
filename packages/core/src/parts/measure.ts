/** Formats sizes, speeds and durations. */
import * as Duration from "effect/Duration"
import { spelled } from "../base/effect.js"

const units = ["kB", "MB", "GB", "TB", "PB"] as const

/**
 * A number of bytes in decimal units, as the service counts them (1 GB is 1,000,000,000 bytes): `512 B`, `16.8 MB`.
 *
 * @category formatting
 */
export const bytes = (count: number): string => {
  if (count < 1000) return `${Math.round(count)} B`
  let value = count / 1000
  let unit = 0
  // 999.95 would be printed as 1000.0
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${value.toFixed(1)} ${units[unit] ?? ""}`
}

/**
 * A speed, from bytes per second: `12.5 MB/s`.
 *
 * @category formatting
 */
export const speed = (bytesPerSecond: number): string => `${bytes(bytesPerSecond)}/s`

/**
 * A duration as a person says it: to the millisecond below a second, to the second below two days, and then in days or in years:
 * `250ms`, `1h 2m 5s`, `3 days`, `31 years`.
 *
 * @category formatting
 */
export const duration = (length: Duration.Duration): string => {
  if (!Duration.isFinite(length)) return "forever"
  const millis = Duration.toMillis(length)
  return spelled(Duration.millis(millis < 1000 ? Math.round(millis) : Math.round(millis / 1000) * 1000))
}

/**
 * The speed for this many bytes in this time, to append to a duration: `, 12.5 MB/s`. Empty if no time passed.
 *
 * @category formatting
 */
export const pace = (count: number, took: Duration.Duration): string =>
  Duration.toMillis(took) > 0 ? `, ${speed(count / Duration.toSeconds(took))}` : ""

/**
 * The finished share of a whole, in whole percent: 100 only when all of it is done.
 *
 * @category formatting
 */
export const percent = (done: number, whole: number): number =>
  whole <= 0 || done >= whole ? 100 : Math.max(0, Math.floor((done / whole) * 100))
