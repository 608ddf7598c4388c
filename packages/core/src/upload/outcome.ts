/** How one upload of many ended, in a form for other processes. */
import * as Schema from "effect/Schema"
import { AnyNumber } from "../Recovery.js"
import { SourceFingerprint } from "../source/fingerprint.js"
import { UploadedFile } from "../UploadedFile.js"
import { UploadError } from "../UploadError.js"

/**
 * The description of a source, without the source itself. It also covers a source that was refused, whose size may be
 * any number.
 */
export const Source = Schema.Struct({
  name: Schema.String,
  mediaType: Schema.String,
  /** In bytes. */
  size: AnyNumber,
  /** Identifies the same source later. */
  fingerprint: Schema.Struct({
    ...SourceFingerprint.fields,
    kind: Schema.String,
    size: AnyNumber,
    modified: Schema.optional(AnyNumber)
  })
}).annotations({ identifier: "UploadOutcomeSource" })

export interface Source extends Schema.Schema.Type<typeof Source> {}

/**
 * An outcome of `Uploads.uploadAll` without what cannot leave the process: the source is reduced to its description. It
 * encodes the outcome as it is, and can cross queues and journals as JSON.
 */
export const UploadOutcome = Schema.Union(
  Schema.TaggedStruct("Uploaded", { source: Source, file: UploadedFile }),
  Schema.TaggedStruct("Failed", { source: Source, error: UploadError })
).annotations({ identifier: "UploadOutcome" })

export type UploadOutcome = typeof UploadOutcome.Type
