/**
 * Where an upload stands.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Option from "effect/Option"

/**
 * What is being done: a session is opened, bytes are sent, the service is told, or it is over.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadPhase = "preparing" | "uploading" | "completing" | "completed" | "failed"

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
  /** Bytes that storage has confirmed. Falls only when a new session starts over. */
  readonly confirmed: number
  /** The parts of the session, and how many of them storage has. */
  readonly parts: { readonly total: number; readonly confirmed: number }
  /** How many sessions were opened. */
  readonly sessions: number
  /** Bytes a second over the session so far; none until a second has passed. */
  readonly speed: Option.Option<number>
  /** How long it still takes at that speed. */
  readonly timeLeft: Option.Option<Duration.Duration>
}
