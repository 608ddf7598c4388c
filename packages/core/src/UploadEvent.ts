/** What happens to an upload, one event at a time. No event contains a URL, a token or the internals of an error. */
import * as Schema from "effect/Schema"
import { AnyDuration } from "./base/time.js"
import { Feasibility } from "./errors/feasibility.js"
import { FileRecord } from "./FileRecord.js"
import { uploadTags } from "./upload/meaning.js"
import { UploadError } from "./UploadError.js"
import { UploadProgress } from "./UploadProgress.js"

const Count = /* #__PURE__ */ Schema.Int.pipe(/* #__PURE__ */ Schema.positive())

const ErrorTag = /* #__PURE__ */ Schema.Literal(.../* #__PURE__ */ uploadTags())

/**
 * An event as JSON, for example for a log or another process. Times are in milliseconds, dates in ISO 8601.
 *
 * @example
 * import { UploadEvent, type Uploads } from "@stevedore/core"
 * import { Schema, Stream } from "effect"
 *
 * const toJson = Schema.encode(Schema.parseJson(UploadEvent.UploadEvent))
 *
 * const lines = (upload: Uploads.UploadHandle) => Stream.mapEffect(upload.events, (event) => toJson(event))
 *
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
  Schema.TaggedStruct("Completed", { file: FileRecord }),
  Schema.TaggedStruct("Failed", { error: UploadError }),
  Schema.TaggedStruct("Cancelled", {})
).annotations({ identifier: "UploadEvent" })

/**
 * An event of an upload. `Completed`, `Failed` and `Cancelled` are the last of their upload. One that dies of a defect
 * has none of them: the stream of its events dies with it.
 *
 * - `SessionOpened`: a session starts, or one that an earlier process left behind continues. `session` counts from 1;
 *   `deadline` is when its first URL expires, in the server's time.
 * - `SessionEnded`: a session ended before the upload was done, and a new one starts. `because` is the `_tag` of the
 *   failure; `lost` are the bytes that storage had confirmed and that are sent again, the price of the new session.
 * - `PartStarted`: an attempt to send a part starts. `part` and `attempt` count from 1; a single PUT is part 1.
 * - `PartStored`: storage has confirmed a part of `size` bytes.
 * - `PartFailed`: an attempt failed, and the part will be sent again after `wait`.
 * - `FeasibilityChanged`: the estimate of whether the upload finishes before its URLs expire has changed.
 * - `Paused`, `Resumed`: the upload was paused and no part of it is in flight; it continues.
 * - `Woke`: the computer slept. All connections were dropped, and the parts on them are sent again.
 * - `Completing`: all parts are in storage, and Complete is sent, or its outcome is looked up if an earlier process may
 *   have sent it.
 * - `Completed`: the file is there.
 * - `Failed`, `Cancelled`: the upload failed; it was cancelled or interrupted.
 *
 * @category models
 */
export type UploadEvent = typeof UploadEvent.Type

/**
 * Whether no event follows this one.
 *
 * @internal
 */
export const isLast = (event: UploadEvent): boolean =>
  event._tag === "Completed" || event._tag === "Failed" || event._tag === "Cancelled"
