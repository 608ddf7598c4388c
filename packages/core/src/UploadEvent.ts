/**
 * What happens to an upload, one event at a time. No event contains a URL, a token or the internals of an error.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { AnyDuration } from "./base/anyDuration.js"
import { Feasibility } from "./base/feasibility.js"
import { FileRecord } from "./FileRecord.js"
import { UploadError } from "./UploadError.js"
import { UploadProgress } from "./UploadProgress.js"

const Count = /* #__PURE__ */ Schema.Int.pipe(/* #__PURE__ */ Schema.positive())

const ErrorTag =
  /* #__PURE__ */ (() => Schema.Literal(...Arr.dedupe(Arr.map(UploadError.members, ({ _tag }) => _tag))))()

/**
 * An event as JSON, for example for a log or another process. Times are in milliseconds, dates in ISO 8601.
 *
 * @example
 * import { UploadEvent, type Uploads } from "@stevedore/core"
 * import { Schema, Stream } from "effect"
 *
 * const toJson = Schema.encode(Schema.parseJson(UploadEvent.UploadEvent))
 *
 * const lines = (upload: Uploads.UploadHandle) => Stream.mapEffect(upload.events, toJson)
 *
 * @since 0.1.0
 * @category models
 */
export const UploadEvent = /* #__PURE__ */ Schema.Union(
  Schema.TaggedStruct("SessionOpened", {
    session: Count,
    fileId: Schema.String,
    parts: UploadProgress.fields.parts,
    deadline: Schema.Date
  }),
  Schema.TaggedStruct("SessionEnded", {
    session: Schema.NonNegativeInt,
    because: ErrorTag,
    lost: Schema.NonNegativeInt
  }),
  Schema.TaggedStruct("PartStarted", { part: Count, attempt: Count }),
  Schema.TaggedStruct("PartStored", { part: Count, size: Count, attempts: Count }),
  Schema.TaggedStruct("PartFailed", {
    part: Count,
    attempt: Schema.NonNegativeInt,
    because: ErrorTag,
    wait: AnyDuration
  }),
  Schema.TaggedStruct("FeasibilityChanged", { feasibility: Feasibility }),
  Schema.TaggedStruct("Paused", {}),
  Schema.TaggedStruct("Resumed", {}),
  Schema.TaggedStruct("Woke", {}),
  Schema.TaggedStruct("Completing", {}),
  Schema.TaggedStruct("Verifying", {}),
  Schema.TaggedStruct("Completed", { file: FileRecord }),
  Schema.TaggedStruct("Failed", { error: UploadError }),
  Schema.TaggedStruct("Cancelled", {})
).annotations({ identifier: "UploadEvent" })

/**
 * An event of an upload. `Completed`, `Failed` and `Cancelled` are the last of their upload. One that dies of a defect
 * has none of them: the stream of its events dies with it.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadEvent =
  | SessionOpened
  | SessionEnded
  | PartStarted
  | PartStored
  | PartFailed
  | FeasibilityChanged
  | Paused
  | Resumed
  | Woke
  | Completing
  | Verifying
  | Completed
  | Failed
  | Cancelled

/**
 * A session starts, or one that an earlier process left behind continues.
 *
 * @since 0.1.0
 * @category models
 */
export interface SessionOpened {
  readonly _tag: "SessionOpened"
  /** From 1. */
  readonly session: number
  readonly fileId: string
  readonly parts: { readonly total: number; readonly confirmed: number }
  /** When its first URL expires, in the server's time. */
  readonly deadline: Date
}

/**
 * A session ended before the upload was done, and a new one starts.
 *
 * @since 0.1.0
 * @category models
 */
export interface SessionEnded {
  readonly _tag: "SessionEnded"
  readonly session: number
  /** The `_tag` of the failure. */
  readonly because: UploadError["_tag"]
  /** Bytes that storage had confirmed and that are sent again: the price of the new session. */
  readonly lost: number
}

/**
 * An attempt to send a part starts.
 *
 * @since 0.1.0
 * @category models
 */
export interface PartStarted {
  readonly _tag: "PartStarted"
  /** From 1; a single PUT is part 1. */
  readonly part: number
  /** From 1. */
  readonly attempt: number
}

/**
 * Storage has confirmed a part.
 *
 * @since 0.1.0
 * @category models
 */
export interface PartStored {
  readonly _tag: "PartStored"
  readonly part: number
  /** In bytes. */
  readonly size: number
  readonly attempts: number
}

/**
 * An attempt failed, and the part will be sent again.
 *
 * @since 0.1.0
 * @category models
 */
export interface PartFailed {
  readonly _tag: "PartFailed"
  readonly part: number
  readonly attempt: number
  /** The `_tag` of the failure. */
  readonly because: UploadError["_tag"]
  /** Until the next attempt. */
  readonly wait: Duration.Duration
}

/**
 * The estimate of whether the upload finishes before its URLs expire has changed.
 *
 * @since 0.1.0
 * @category models
 */
export interface FeasibilityChanged {
  readonly _tag: "FeasibilityChanged"
  readonly feasibility: Feasibility
}

/**
 * The upload was paused: no part of it is in flight.
 *
 * @since 0.1.0
 * @category models
 */
export interface Paused {
  readonly _tag: "Paused"
}

/**
 * A paused upload continues.
 *
 * @since 0.1.0
 * @category models
 */
export interface Resumed {
  readonly _tag: "Resumed"
}

/**
 * The computer slept. All connections were dropped, and the parts on them are sent again.
 *
 * @since 0.1.0
 * @category models
 */
export interface Woke {
  readonly _tag: "Woke"
}

/**
 * All parts are in storage, and Complete is sent, or its outcome is looked up if an earlier process may have sent it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completing {
  readonly _tag: "Completing"
}

/**
 * The file is there, and is read back for comparison.
 *
 * @since 0.1.0
 * @category models
 */
export interface Verifying {
  readonly _tag: "Verifying"
}

/**
 * The file is there.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completed {
  readonly _tag: "Completed"
  readonly file: FileRecord
}

/**
 * The upload failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed {
  readonly _tag: "Failed"
  readonly error: UploadError
}

/**
 * The upload was cancelled or interrupted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Cancelled {
  readonly _tag: "Cancelled"
}

/**
 * Whether no event follows this one.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isLast = (event: UploadEvent): boolean =>
  event._tag === "Completed" || event._tag === "Failed" || event._tag === "Cancelled"
