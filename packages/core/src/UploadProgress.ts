/**
 * Where an upload stands.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Feasibility from "./Feasibility.js"

/**
 * What is being done: a session is opened, bytes are sent, nothing because the caller paused it, the service is told,
 * the file is read back, or it is over.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadPhase =
  | "preparing"
  | "uploading"
  | "paused"
  | "completing"
  | "verifying"
  | "completed"
  | "failed"
  | "cancelled"

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
