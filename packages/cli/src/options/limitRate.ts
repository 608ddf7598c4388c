/** Reads limits of bandwidth as people write them: `20M`, `off`, or a timetable such as `08:00,5M 18:00,off`. */
import type * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as Measure from "@stevedore/core/parts/measure"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Quantities from "./quantities.js"

/** A rate that comes into force each day at a time. */
const Entry = Schema.Struct({
  /** In minutes since midnight, by the clock of this machine. */
  from: Schema.Number,
  /** In bytes per second; `Infinity` for no limit. */
  rate: Schema.Number
})

type Entry = typeof Entry.Type

/** A limit: one rate for the whole day, or several that come into force at their times. */
export const LimitRate = Schema.Struct({
  /** As it was written. */
  text: Schema.String,
  /** Ordered by time. */
  entries: Schema.NonEmptyArray(Entry)
})

export type LimitRate = typeof LimitRate.Type

/** What can be written, for messages. */
export const expected = "a rate such as 500k, 20M or off, or times with rates such as \"08:00,5M 18:00,off\""

const rateOf = (text: string): Option.Option<number> =>
  text.toLowerCase() === "off"
    ? Option.some(Number.POSITIVE_INFINITY)
    : Option.filter(Quantities.bytes(text.replace(/\/s$/, "")), (rate) => rate > 0)

const entryOf = (text: string): Option.Option<Entry> => {
  const [, hours = "", minutes = "", rate = ""] = /^([01]?\d|2[0-3]):([0-5]\d),(.+)$/.exec(text) ?? []
  return Option.map(rateOf(rate), (rate) => ({ from: Number(hours) * 60 + Number(minutes), rate }))
}

/** A limit as it is written. None if it is not one. A rate is in bytes per second, with units as sizes have them. */
export const parse = (given: string): Option.Option<LimitRate> => {
  const text = given.trim()
  const whole = Option.map(rateOf(text), (rate): LimitRate => ({ text, entries: [{ from: 0, rate }] }))
  return Option.orElse(whole, () =>
    Option.flatMap(Option.all(text.split(/\s+/).map(entryOf)), (entries) => {
      const [first, ...others] = entries.toSorted((one, other) => one.from - other.from)
      const isOnceEach = new Set(entries.map(({ from }) => from)).size === entries.length
      return first === undefined || !isOnceEach ? Option.none() : Option.some({ text, entries: [first, ...others] })
    }))
}

/** The limit that is in force at a minute of the day. Before the first time of a timetable, its last entry is. */
export const at = ({ entries }: LimitRate, minute: number): BandwidthLimit.Limit => {
  const { rate } = entries.findLast(({ from }) => from <= minute) ?? entries.at(-1) ?? entries[0]
  return { rate, most: Math.max(...entries.map((entry) => entry.rate)) }
}

/** The minute of the day, by the clock of this machine, of a time in milliseconds since 1970. */
export const minuteOf = (millis: number): number => {
  const { hours, minutes } = DateTime.toParts(DateTime.unsafeMakeZoned(millis, { timeZone: DateTime.zoneMakeLocal() }))
  return hours * 60 + minutes
}

/** In words: `5.0 MB/s`, or `no limit`. */
export const describe = (rate: number): string => Number.isFinite(rate) ? Measure.speed(rate) : "no limit"
