/** Tells one state of a source from another. */
import * as Schema from "effect/Schema"

/**
 * Tells one state of a source from another: its size, and what its kind of source knows in addition (a file's
 * modification date and identity, a Blob's date). Equal fingerprints do not prove equal bytes; different ones prove a
 * change.
 */
export const SourceFingerprint = Schema.Struct({
  /** The kind of the source, such as `file`, `bytes`, `stream`. */
  kind: Schema.NonEmptyString,
  /** In bytes. */
  size: Schema.NonNegativeInt,
  /** When it was last modified, in milliseconds since 1970: a finite number, for JSON. */
  modified: Schema.optional(Schema.JsonNumber),
  /** What identifies it besides its name, such as a file's device and inode. */
  identity: Schema.optional(Schema.String),
  /** A checksum of a sample of the content, for a source whose size and date are not specific enough. */
  sample: Schema.optional(Schema.String)
}).annotations({ identifier: "SourceFingerprint" })

export interface SourceFingerprint extends Schema.Schema.Type<typeof SourceFingerprint> {}
