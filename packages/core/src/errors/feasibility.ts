/**
 * Whether an upload can finish before its URLs expire, at the measured speed. Ten gigabytes in three hours need 7.4
 * Mbit/s; on a slower connection, this is known after half a minute.
 */
import * as Schema from "effect/Schema"

const rates = {
  /** The bytes per second that are needed. */
  needs: Schema.JsonNumber,
  /** The bytes per second of the connection over the last minute. */
  has: Schema.JsonNumber
}

/**
 * The verdict:
 *
 * - `Unknown`: too little was sent
 * - `Feasible`: the upload finishes in time
 * - `AtRisk`: it may finish in time, or may need a new session
 * - `Impossible`: it does not finish in time, not even in a new session, unless the connection becomes faster
 */
export const Feasibility = /* #__PURE__ */ Schema.Union(
  Schema.TaggedStruct("Unknown", {}),
  Schema.TaggedStruct("Feasible", rates),
  Schema.TaggedStruct("AtRisk", rates),
  Schema.TaggedStruct("Impossible", rates)
).annotations({ identifier: "Feasibility" })

/** Whether an upload can finish in time, as far as is known. */
export type Feasibility = typeof Feasibility.Type

/** Nothing is known yet. */
export const unknown: Feasibility = { _tag: "Unknown" }

/** The speed of a connection, in bytes per second. */
export interface Speed {
  /** The mean. */
  readonly likely: number
  /** The mean minus the deviation. */
  readonly least: number
  /**
   * The best that the connection sustained for a while; 0 means that this is not known. An interruption does not lower
   * it.
   */
  readonly most: number
}

/** The measurements to judge. */
export interface Measured {
  /** The source's size in bytes. */
  readonly size: number
  /** Bytes sent in this session so far. */
  readonly sent: number
  /** Bytes still to send. */
  readonly remaining: number
  /** Seconds until the first URL that is still needed expires. */
  readonly secondsLeft: number
  /** How long the URLs of a session live, in seconds: the time that a new session would have. */
  readonly sessionSeconds: number
  /** Seconds during which bytes were being sent. */
  readonly secondsSending: number
  readonly speed: Speed
  /** The bytes per second that a bandwidth limit allows, now or later, whatever the connection does. Defaults to any. */
  readonly limit?: number | undefined
}

// A connection that is still warming up may become half as fast again; after two minutes of watching, it hardly does.
const hope = (secondsSending: number): number => secondsSending < 120 ? 1.5 : 1.1

const isKnown = ({ secondsSending, sent, size, speed }: Measured): boolean =>
  speed.most > 0 && (secondsSending >= 30 || (secondsSending >= 10 && sent >= size / 20))

/**
 * Judges the measurements. The verdict is known after 30 seconds of sending, or after 5 % of the file if that took 10
 * seconds; that a bandwidth limit is too low is known at once.
 */
export const assess = (measured: Measured): Feasibility => {
  const { limit = Number.POSITIVE_INFINITY, secondsLeft, secondsSending, sessionSeconds, size } = measured
  if (secondsLeft <= 0) return unknown
  const { least, likely, most } = measured.speed
  const needs = measured.remaining / secondsLeft
  const needsAtLeast = Math.min(needs, size / sessionSeconds)
  if (needsAtLeast > limit) return { _tag: "Impossible", needs, has: likely > 0 ? Math.min(likely, limit) : limit }
  if (!isKnown(measured)) return unknown
  const rates = { needs, has: likely }
  if (needsAtLeast > most * hope(secondsSending)) return { _tag: "Impossible", ...rates }
  return needs > Math.min(least, likely * 0.85) ? { _tag: "AtRisk", ...rates } : { _tag: "Feasible", ...rates }
}

/**
 * A speed in megabits per second. Two significant digits, but never in exponential notation, to which `toPrecision`
 * switches from 100 on.
 */
export const megabits = (bytesPerSecond: number): string => {
  const rate = (bytesPerSecond * 8) / 1_000_000
  return rate < 99.5 ? rate.toPrecision(2) : rate.toFixed(0)
}

/** In words, such as `needs 7.4 Mbit/s, has 4.1 Mbit/s`. */
export const describeRates = ({ has, needs }: { readonly needs: number; readonly has: number }): string =>
  `needs ${megabits(needs)} Mbit/s, has ${megabits(has)}`

/** In words, such as `impossible: needs 7.4 Mbit/s, has 4.1`. */
export const describe = (feasibility: Feasibility): string => {
  switch (feasibility._tag) {
    case "Unknown":
      return "not known yet"
    case "Feasible":
      return "feasible"
    case "AtRisk":
      return `at risk: ${describeRates(feasibility)}`
    case "Impossible":
      return `impossible: ${describeRates(feasibility)}`
  }
}
