/** What the service opens for one upload: a file id and the pre-signed URLs. */
import * as Schema from "effect/Schema"
import { hidden, hiddenValue } from "./base/effect.js"
import { PresignedUrlFromString } from "./PresignedUrl.js"

/**
 * The ids of a session that came as numbers of JSON: in JSON, they are sent back as numbers.
 *
 * @category models
 */
export const NumericIds = Schema.Array(Schema.Literal("fileId", "uploadId"))

const fields = {
  fileId: Schema.NonEmptyString,
  /** Which of its ids came as numbers; absent if none did. */
  numericIds: Schema.optional(NumericIds),
  /**
   * The clock of what signed the URLs minus ours, in milliseconds. The URLs were signed for this session: a lifetime that
   * they state begins with it. Deadlines are in the time of that clock.
   */
  clockOffset: Schema.JsonNumber,
  /** The clock of the response's `Date` minus ours, in milliseconds, if it has one. It decides nothing. */
  dateOffset: /* #__PURE__ */ Schema.optional(Schema.JsonNumber),
  /** When the session was opened, in milliseconds of the clock of what signed the URLs. */
  openedAt: Schema.JsonNumber,
  /** The fields of the response that are not named here. */
  extra: /* #__PURE__ */ Schema.Record({ key: Schema.String, value: Schema.Unknown })
}

/**
 * A session for the whole file in one PUT.
 *
 * @category models
 */
export const SingleSession = /* #__PURE__ */ Schema.TaggedStruct("SingleSession", {
  ...fields,
  url: PresignedUrlFromString
}).annotations({ identifier: "SingleSession", message: hiddenValue })

/** @category models */
export interface SingleSession extends Schema.Schema.Type<typeof SingleSession> {}

/**
 * A multipart session: one URL per part, in the order of the parts, all of them available from the start.
 *
 * @category models
 */
export const MultipartSession = /* #__PURE__ */ Schema.TaggedStruct("MultipartSession", {
  ...fields,
  uploadId: Schema.NonEmptyString,
  urls: Schema.NonEmptyArray(PresignedUrlFromString).annotations({ message: hidden }),
  /** The size that the service names for all parts but the last, in bytes; absent if it names none. */
  partSize: Schema.optional(Schema.Int.pipe(Schema.positive()))
}).annotations({ identifier: "MultipartSession", message: hiddenValue })

/** @category models */
export interface MultipartSession extends Schema.Schema.Type<typeof MultipartSession> {}

/**
 * Either kind of session. Its encoded form has the URLs with their signatures, so keep it only in a private store. A
 * URL that does not say when it expires decodes without the assumed deadline; `PresignedUrl.endingBy` adds it again.
 *
 * @category models
 */
export const UploadSession = /* #__PURE__ */ Schema.Union(SingleSession, MultipartSession).annotations({
  identifier: "UploadSession",
  message: hiddenValue
})

/** @category models */
export type UploadSession = typeof UploadSession.Type

/**
 * The URLs of either kind of session, one per part, in the order of the parts.
 *
 * @internal
 */
export const urlsOf = (session: UploadSession): MultipartSession["urls"] =>
  session._tag === "SingleSession" ? [session.url] : session.urls

/**
 * The service's id of a multipart upload; undefined for a single PUT.
 *
 * @internal
 */
export const uploadIdOf = (session: UploadSession): string | undefined =>
  session._tag === "MultipartSession" ? session.uploadId : undefined

/**
 * The part size that the service named for a multipart session, in bytes.
 *
 * @internal
 */
export const partSizeOf = (session: UploadSession): number | undefined =>
  session._tag === "MultipartSession" ? session.partSize : undefined

/**
 * A part that storage has: its number from 1, and its etag, opaque and verbatim.
 *
 * @category models
 */
export const PartReceipt = Schema.Struct({
  partNumber: Schema.Int.pipe(Schema.positive()),
  etag: Schema.NonEmptyString,
  /** In bytes. */
  size: Schema.Int.pipe(Schema.positive()),
  /** How many attempts were made. A part that took more than one may have been stored twice. */
  attempts: Schema.Int.pipe(Schema.positive()),
  /** Whether the client may have sent it more than once by itself, as browsers do. */
  perhapsRepeated: Schema.optional(Schema.Boolean),
  /** The part's checksum in base64, by the algorithm of the upload; absent if it was not computed. */
  checksum: Schema.optional(Schema.NonEmptyString),
  /** Whether storage reported that it has the same checksum. */
  proven: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "PartReceipt" })

/** @category models */
export interface PartReceipt extends Schema.Schema.Type<typeof PartReceipt> {}
