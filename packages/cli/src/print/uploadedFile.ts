import { SourceFingerprint } from "@stevedore/core/UploadSource"
import * as Schema from "effect/Schema"

/**
 * A file that was uploaded, as it is remembered. It has neither a token nor a URL with a query, and nothing of the service's
 * record but the id.
 */
export const UploadedFile = Schema.Struct({
  /** The real path: absolute, and without links. For a source on the web, its URL without the query. */
  path: Schema.String,
  /** Its name at the service. */
  name: Schema.String,
  mediaType: Schema.String,
  /** In bytes. */
  size: Schema.NonNegativeInt,
  /** When the file was last modified, as an ISO 8601 date; null if its source has no date. */
  modified: Schema.NullOr(Schema.String),
  fingerprint: SourceFingerprint,
  /** When the file was last changed in any way, and its number on its disk, as they were before it was read. */
  changed: Schema.optional(Schema.String),
  /** The base URL of the service. */
  service: Schema.String,
  fileId: Schema.String,
  /** Of the whole file, as sent; null if it could not be computed. */
  checksum: Schema.NullOr(Schema.Struct({ algorithm: Schema.String, value: Schema.String })),
  /** Into which projects it was imported, by their ids. */
  imports: Schema.optional(Schema.Record({
    key: Schema.String,
    value: Schema.Struct({
      /** `begun` from before the call on: if the command is killed then, the next one looks whether it was carried out. */
      state: Schema.Literal("begun", "done"),
      /** An ISO 8601 date. */
      at: Schema.String,
      /** Of the entry, if the service says it. */
      id: Schema.optional(Schema.String)
    })
  })),
  /** An ISO 8601 date. */
  uploadedAt: Schema.String,
  /** When the service last said that it has the file, as an ISO 8601 date. */
  checkedAt: Schema.String
}).annotations({ identifier: "UploadedFile" })

export type UploadedFile = typeof UploadedFile.Type
