/**
 * Where an upload stands.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Feasibility from "./Feasibility.js"
import { AnyDuration } from "./internal/anyDuration.js"
import { AnyNumber } from "./Recovery.js"

/**
 * The phases, in their order.
 *
 * @since 0.1.0
 * @category models
 */
export const UploadPhase = /* #__PURE__ */ Schema.Literal(
  "preparing",
  "uploading",
  "paused",
  "completing",
  "verifying",
  "completed",
  "failed",
  "cancelled"
).annotations({ identifier: "UploadPhase" })

/**
 * What is being done: a session is opened, bytes are sent, nothing because the caller paused it, the service is told,
 * the file is read back, or it is over.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadPhase = typeof UploadPhase.Type

/**
 * Whether nothing comes after a phase.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isOver = (phase: UploadPhase): boolean =>
  phase === "completed" || phase === "failed" || phase === "cancelled"

/**
 * One look at an upload. All numbers are bytes unless they say otherwise.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadProgress {
  readonly phase: UploadPhase
  /** The source's size in bytes. */
  readonly size: number
  /** Bytes handed to the network; falls back when an attempt is lost. Never above `size`. */
  readonly sent: number
  /** Bytes that storage has confirmed. It never falls: a new session has to pass it first. */
  readonly confirmed: number
  /** The parts of the session, and how many of them storage has. */
  readonly parts: { readonly total: number; readonly confirmed: number }
  /** How many sessions were opened. */
  readonly sessions: number
  /** Bytes a second over the last minute of sending; none until a second was measured. */
  readonly speed: Option.Option<number>
  /** How long it still takes at that speed. */
  readonly timeLeft: Option.Option<Duration.Duration>
  /** The same at the fastest and at the slowest of what was measured. */
  readonly timeLeftBetween: Option.Option<{ readonly least: Duration.Duration; readonly most: Duration.Duration }>
  /** Since when no byte has moved, from ten seconds on, while bytes should. */
  readonly stalledSince: Option.Option<Date>
  /** Whether it ends before its URLs do. */
  readonly feasibility: Feasibility.Feasibility
}

/**
 * One look at an upload as JSON: what is not known is null, times are in milliseconds, and a number that JSON does not have is
 * its name, such as `"Infinity"` for the time left of a line that stands still.
 *
 * @example
 * import { UploadProgress, type Uploads } from "@stevedore/core"
 * import { Schedule, Schema, Stream } from "effect"
 *
 * const toJson = Schema.encode(Schema.parseJson(UploadProgress.UploadProgress))
 *
 * const lines = (upload: Uploads.UploadHandle) =>
 *   upload.progress.changes.pipe(Stream.schedule(Schedule.spaced("1 second")), Stream.mapEffect(toJson))
 *
 * @since 0.1.0
 * @category models
 */
export const UploadProgress = /* #__PURE__ */ Schema.Struct({
  phase: UploadPhase,
  // a source may say anything of its size, and is refused then
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
 * Where an upload of so many bytes stands before anything has happened.
 *
 * @since 0.1.0
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
