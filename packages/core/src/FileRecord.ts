/**
 * The service's record of a file.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { serviceRecord } from "./internal/serviceRecord.js"

/**
 * The state of processing. A finalized file may still be `pending`; it can be downloaded regardless.
 *
 * @since 0.1.0
 * @category models
 */
export const FileStatus = Schema.Literal("pending", "completed", "failed").annotations({ identifier: "FileStatus" })

/**
 * @since 0.1.0
 * @category models
 */
export type FileStatus = typeof FileStatus.Type

/**
 * Who created something.
 *
 * @since 0.1.0
 * @category models
 */
export const Author = Schema.Struct({
  id: Schema.String,
  name: Schema.optional(Schema.NullOr(Schema.String))
}).annotations(serviceRecord("Author"))

/**
 * A file as the service keeps it. Fields that are not named here are kept too, and survive this Schema, so storing a
 * record with it loses nothing.
 *
 * @since 0.1.0
 * @category models
 */
export const FileRecord = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** The media type. */
  type: Schema.optional(Schema.NullOr(Schema.String)),
  /** In bytes; may be absent. */
  size: Schema.optional(Schema.NullOr(Schema.JsonNumber)),
  status: FileStatus,
  author: Schema.optional(Schema.NullOr(Author)),
  /** As the service wrote it: an ISO 8601 date. */
  created_at: Schema.String
}).annotations(serviceRecord("FileRecord"))

/**
 * @since 0.1.0
 * @category models
 */
export type FileRecord = typeof FileRecord.Type

/**
 * Whether a record shows a file of this size that the service has: it has not failed, and its size, if the record has
 * one, is the same.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isThere = (record: FileRecord, size: number): boolean =>
  record.status !== "failed" && (record.size ?? size) === size
