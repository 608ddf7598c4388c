/**
 * Whether an upload can end before its URLs do, at the speed that was measured. Ten gigabytes in three hours need
 * 7.4 Mbit/s: on a slower line that is known after half a minute.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const rates = {
  /** Bytes a second that are needed. */
  needs: Schema.JsonNumber,
  /** Bytes a second that the line gave over the last minute. */
  has: Schema.JsonNumber
}

/**
 * What is known of it:
 *
 * - `Unknown`: too little was sent
 * - `Feasible`: it ends in time
 * - `AtRisk`: it may, or a new session has to be opened for it
 * - `Impossible`: it does not, nor does it in a new session, unless the line becomes faster
 *
 * @since 0.1.0
 * @category models
 */
export const Feasibility = /* #__PURE__ */ Schema.Union(
  Schema.TaggedStruct("Unknown", {}),
  Schema.TaggedStruct("Feasible", rates),
  Schema.TaggedStruct("AtRisk", rates),
  Schema.TaggedStruct("Impossible", rates)
).annotations({ identifier: "Feasibility" })

/**
 * What is known of whether an upload can end in time.
 *
 * @since 0.1.0
 * @category models
 */
export type Feasibility = typeof Feasibility.Type

/**
 * Nothing is known.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknown: Feasibility = { _tag: "Unknown" }

/**
 * What was measured.
 *
 * @since 0.1.0
 * @category models
 */
export interface Measured {
  /** The source's size in bytes. */
  readonly size: number
  /** Bytes of this session that were sent since it began. */
  readonly sent: number
  /** Bytes that are still to be sent. */
  readonly remaining: number
  /** Until the first URL that is needed ends, in seconds. */
  readonly secondsLeft: number
  /** How long the URLs of a session live, in seconds: what a new session would have. */
  readonly sessionSeconds: number
  /** Seconds during which bytes were being sent. */
  readonly secondsSending: number
  /** In bytes a second; `most` is the best that the line gave for a while, and 0 says nothing about a line. */
  readonly speed: { readonly likely: number; readonly least: number; readonly most: number }
}

// A line that is still warming up may get half as fast again; one that was watched for two minutes hardly does.
const hope = (secondsSending: number): number => secondsSending < 120 ? 1.5 : 1.1

const isKnown = ({ secondsSending, sent, size, speed }: Measured): boolean =>
  speed.most > 0 && (secondsSending >= 30 || (secondsSending >= 10 && sent >= size / 20))

/**
 * Judges what was measured: known from 30 seconds of sending, or from 5 % of the file when that took 10.
 *
 * @since 0.1.0
 * @category constructors
 */
export const assess = (measured: Measured): Feasibility => {
  if (!isKnown(measured) || measured.secondsLeft <= 0) return unknown
  const { least, likely, most } = measured.speed
  const needs = measured.remaining / measured.secondsLeft
  const needsInNewSession = measured.size / measured.sessionSeconds
  const rates = { needs, has: likely }
  if (Math.min(needs, needsInNewSession) > most * hope(measured.secondsSending)) {
    return { _tag: "Impossible", ...rates }
  }
  return needs > Math.min(least, likely * 0.85) ? { _tag: "AtRisk", ...rates } : { _tag: "Feasible", ...rates }
}

// Two digits, but never in powers of ten, which `toPrecision` takes to from 100 on
const megabits = (bytesPerSecond: number): string => {
  const rate = (bytesPerSecond * 8) / 1_000_000
  return rate < 99.5 ? rate.toPrecision(2) : rate.toFixed(0)
}

/**
 * In words, such as `impossible: needs 7.4 Mbit/s, has 4.1`.
 *
 * @since 0.1.0
 * @category formatting
 */
export const describe = (feasibility: Feasibility): string => {
  switch (feasibility._tag) {
    case "Unknown":
      return "not known yet"
    case "Feasible":
      return "feasible"
    case "AtRisk":
      return `at risk: needs ${megabits(feasibility.needs)} Mbit/s, has ${megabits(feasibility.has)}`
    case "Impossible":
      return `impossible: needs ${megabits(feasibility.needs)} Mbit/s, has ${megabits(feasibility.has)}`
  }
}
