/** The service's record of a file. */
import * as Schema from "effect/Schema"
import { openRecord } from "./base/effect.js"
import { Checksum } from "./Checksum.js"

/**
 * The state of a file, in the service's words. Services may have other words than these. A finalized file may still be `pending`; it can be downloaded regardless.
 *
 * @category models
 */
export type FileStatus = "pending" | "completed" | "failed" | (string & {})

/** @category models */
export const FileStatus: Schema.Schema<FileStatus, string> = /* #__PURE__ */ Schema.String.annotations({
  identifier: "FileStatus"
})

/**
 * Who created something.
 *
 * @category models
 */
export const Author = openRecord("Author", {
  id: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String)
})

/**
 * A file as the service keeps it. The interface does not show the record, so nothing but the id is certain. A field has
 * its type, or is absent. What came with another type, or is not named here, is in `extra`, and returns to its place
 * when the record is encoded: storing a record with this Schema loses nothing.
 *
 * @category models
 */
export const FileRecord = openRecord("FileRecord", {
  id: Schema.String,
  name: Schema.optional(Schema.String),
  /** The media type. */
  type: Schema.optional(Schema.String),
  /** In bytes. */
  size: Schema.optional(Schema.JsonNumber),
  status: Schema.optional(FileStatus),
  /** Of the whole content, in the field that the profile names. */
  checksum: Schema.optional(Checksum),
  author: Schema.optional(Author),
  /** As the service wrote it: an ISO 8601 date. */
  created_at: Schema.optional(Schema.String)
})

/** @category models */
export interface FileRecord extends Schema.Schema.Type<typeof FileRecord> {}

/**
 * Whether a record shows a file of this size that the service has: it has not failed, and its size, if the record has
 * one, is the same.
 *
 * @internal
 */
export const isThere = (record: FileRecord, size: number): boolean =>
  record.status !== "failed" && (record.size ?? size) === size
