/** Every state of an unfinished upload, as a Schema, so that another process can take it over. */
import * as Schema from "effect/Schema"
import { hidden, hiddenValue } from "../base/effect.js"
import { PresignedUrlFromString } from "../PresignedUrl.js"
import { SourceFingerprint } from "../source/fingerprint.js"
import { NumericIds } from "../UploadSession.js"

/**
 * What is needed to return to the session. The part URLs are the only way back, because the service can neither renew
 * nor list them. They are absent if the store is not private; a restart then opens a new session.
 */
export const SessionRecord = Schema.Struct({
  fileId: Schema.NonEmptyString,
  /** Absent for a single PUT. */
  uploadId: Schema.optional(Schema.NonEmptyString),
  /** Which of these ids came as numbers. */
  numericIds: Schema.optional(NumericIds),
  /** The server's clock minus ours when it was opened, in milliseconds. */
  clockOffset: Schema.JsonNumber,
  /** When it was opened, in milliseconds of the server's clock. */
  openedAt: Schema.JsonNumber,
  /** How many parts it has; 1 for a single PUT. */
  parts: Schema.Int.pipe(Schema.positive()),
  /** The size that the service named for all parts but the last, in bytes. */
  partSize: Schema.optional(Schema.Int.pipe(Schema.positive())),
  urls: Schema.optional(Schema.NonEmptyArray(PresignedUrlFromString))
}).annotations({ identifier: "SessionRecord", message: hidden })

/** What is needed to return to a session. */
export interface SessionRecord extends Schema.Schema.Type<typeof SessionRecord> {}

/** An unfinished upload. `completing` is written before Complete is sent, and is never undone. */
export const UploadRecord = Schema.Struct({
  version: Schema.Literal(1),
  /** Derived from the source and the service: the same file for the same service has the same id. */
  id: Schema.NonEmptyString,
  /** The service's base URL. */
  service: Schema.String,
  name: Schema.String,
  mediaType: Schema.String,
  fingerprint: SourceFingerprint,
  /** The algorithm of the parts' checksums. */
  checksumAlgorithm: Schema.String,
  session: SessionRecord,
  phase: Schema.Literal("uploading", "completing"),
  /** When the record was made, in milliseconds of our clock. */
  startedAt: Schema.JsonNumber,
  /** What travels with the upload. It was checked before it was kept. */
  metadata: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
}).annotations({ identifier: "UploadRecord", message: hiddenValue })

/** An unfinished upload, as a ledger keeps it. */
export interface UploadRecord extends Schema.Schema.Type<typeof UploadRecord> {}
