/**
 * What tells one state of a source from another.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * What tells one state of a source from another: its size, and what its kind of source knows besides (a file's date
 * of change and identity, a Blob's date). Two equal fingerprints are not a proof of equal bytes; different ones are a
 * proof of a change.
 *
 * @since 0.1.0
 * @category models
 */
export const SourceFingerprint = Schema.Struct({
  /** The kind of the source, such as `file`, `bytes`, `stream`. */
  kind: Schema.NonEmptyString,
  /** In bytes. */
  size: Schema.NonNegativeInt,
  /** When it was changed last, in milliseconds since 1970: a number that JSON has. */
  modified: Schema.optional(Schema.JsonNumber),
  /** What it is beside its name, such as a file's device and inode. */
  identity: Schema.optional(Schema.String),
  /** A checksum of a sample of the content, for a source whose size and date do not tell enough. */
  sample: Schema.optional(Schema.String)
}).annotations({ identifier: "SourceFingerprint" })

/**
 * @since 0.1.0
 * @category models
 */
export type SourceFingerprint = typeof SourceFingerprint.Type
