/** The progress of an upload. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { AnyDuration } from "./base/time.js"
import * as Feasibility from "./errors/feasibility.js"
import * as Measure from "./parts/measure.js"
import { AnyNumber } from "./Recovery.js"

/**
 * The phases, in order.
 *
 * @category models
 */
export const UploadPhase = /* #__PURE__ */ Schema.Literal(
  "preparing",
  "uploading",
  "paused",
  "completing",
  "completed",
  "failed",
  "cancelled"
).annotations({ identifier: "UploadPhase" })

/**
 * What the upload is doing: opening a session, sending bytes, paused by the caller, completing, or done. An upload that dies of a defect has failed.
 *
 * @category models
 */
export type UploadPhase = typeof UploadPhase.Type

/**
 * Whether this phase is the last.
 *
 * @internal
 */
export const isOver = (phase: UploadPhase): boolean =>
  phase === "completed" || phase === "failed" || phase === "cancelled"

/**
 * A snapshot of an upload. All numbers are bytes unless stated otherwise.
 *
 * @category models
 */
export interface UploadProgress {
  readonly phase: UploadPhase
  /** The source's size in bytes. */
  readonly size: number
  /** Bytes handed to the network. Falls back when an attempt is lost; never above `size`. */
  readonly sent: number
  /** Bytes that storage has confirmed. Never falls: a new session has to exceed it first. */
  readonly confirmed: number
  /** The parts of the session, and how many of them storage has. */
  readonly parts: { readonly total: number; readonly confirmed: number }
  /** How many sessions were opened. */
  readonly sessions: number
  /** Bytes per second over the last minute of sending; none until a second was measured. */
  readonly speed: Option.Option<number>
  /** The remaining time at that speed. */
  readonly timeLeft: Option.Option<Duration.Duration>
  /** The remaining time at the fastest and at the slowest measured speed. */
  readonly timeLeftBetween: Option.Option<{ readonly least: Duration.Duration; readonly most: Duration.Duration }>
  /** Since when no byte has moved although bytes should; set after ten seconds. */
  readonly stalledSince: Option.Option<Date>
  /** Whether the upload finishes before its URLs expire. */
  readonly feasibility: Feasibility.Feasibility
}

/**
 * A snapshot of an upload as JSON. What is unknown is null, times are in milliseconds, and a number that JSON cannot
 * represent is encoded as its name, such as `"Infinity"` for the time left of a stalled upload.
 *
 * @example
 * import { UploadProgress, Uploads } from "@stevedore/core"
 * import { Schema, Stream } from "effect"
 *
 * const toJson = Schema.encode(Schema.parseJson(UploadProgress.UploadProgress))
 *
 * const lines = (upload: Uploads.UploadHandle) =>
 *   Stream.mapEffect(Uploads.progressEvery(upload, "1 second"), (progress) => toJson(progress))
 *
 * @category models
 */
export const UploadProgress = /* #__PURE__ */ Schema.Struct({
  phase: UploadPhase,
  // a source may report any size, and is then refused
  size: AnyNumber,
  sent: AnyNumber,
  confirmed: Schema.NonNegativeInt,
  parts: Schema.Struct({ total: Schema.NonNegativeInt, confirmed: Schema.NonNegativeInt }),
  sessions: Schema.NonNegativeInt,
  speed: Schema.OptionFromNullOr(Schema.JsonNumber.pipe(Schema.nonNegative())),
  timeLeft: Schema.OptionFromNullOr(AnyDuration),
  timeLeftBetween: Schema.OptionFromNullOr(Schema.Struct({ least: AnyDuration, most: AnyDuration })),
  stalledSince: Schema.OptionFromNullOr(Schema.Date),
  feasibility: Feasibility.Feasibility
}).annotations({ identifier: "UploadProgress" })

/**
 * The progress of an upload of this size before anything has happened.
 *
 * @category constructors
 */
export const initial = (size: number): UploadProgress => ({
  phase: "preparing",
  size,
  sent: 0,
  confirmed: 0,
  parts: { total: 0, confirmed: 0 },
  sessions: 0,
  speed: Option.none(),
  timeLeft: Option.none(),
  timeLeftBetween: Option.none(),
  stalledSince: Option.none(),
  feasibility: Feasibility.unknown
})

/**
 * A snapshot as a line of text: `uploading: 2.4 MB of 30.0 MB (8 %), 1.2 MB/s, 23s left`. The size is what storage has
 * confirmed. What is unknown is left out.
 *
 * @category formatting
 */
export const describe = (progress: UploadProgress): string => {
  const { confirmed, phase, size, speed, stalledSince, timeLeft } = progress
  const amount = `${Measure.bytes(confirmed)} of ${Measure.bytes(size)} (${Measure.percent(confirmed, size)} %)`
  const details = phase !== "uploading" ? [] : Option.isSome(stalledSince) ? ["stalled"] : [
    ...Option.toArray(Option.map(speed, Measure.speed)),
    ...Option.toArray(
      Option.map(Option.filter(timeLeft, Duration.isFinite), (left) => `${Measure.duration(left)} left`)
    )
  ]
  return [`${phase}: ${amount}`, ...details].join(", ")
}

export {
  /**
   * Whether the upload will end before its URLs do.
   *
   * @category models
   */
  Feasibility
} from "./errors/feasibility.js"
