/** Every way a download can fail. */
import * as Schema from "effect/Schema"
import { quoted } from "./base/text.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"
import { ServiceError } from "./ServiceError.js"
import { SourceChanged } from "./SourceError.js"
import { StorageError } from "./StorageError.js"

/**
 * The bytes ended before their declared length, or went on beyond it. A download that can be resumed is resumed; this
 * error means that it could not be.
 *
 * @category errors
 */
export class DownloadIncomplete extends TaggedError<DownloadIncomplete>()("DownloadIncomplete", {
  fileId: Schema.String,
  /** In bytes. A minimum, if the size of the file was not known. A record may hold a number that is not whole. */
  expected: Recovery.AnyNumber,
  /** In bytes. */
  received: Schema.Int,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `Received ${this.received} bytes of ${this.fileId} instead of ${this.expected} (${
      Recovery.describeAttempts(this)
    }). This is not the file: download it again.`
  }
}

/**
 * The range selects no bytes of the file: it starts at the end or after it, or it is not in whole bytes.
 *
 * @category errors
 */
export class InvalidRange extends TaggedError<InvalidRange>()("InvalidRange", {
  fileId: Schema.String,
  offset: Recovery.AnyNumber,
  length: Schema.optional(Recovery.AnyNumber),
  /** The size of the file in bytes, if known. */
  totalLength: Schema.optional(Schema.Int),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `${this.fileId} has no bytes from offset ${this.offset}${
      this.length === undefined ? "" : ` with length ${this.length}`
    }${
      this.totalLength === undefined ? "" : `: it has ${this.totalLength} bytes`
    }. Ask for a range that begins within the file, in whole bytes from 0, with a length of at least 1.`
  }
}

/**
 * All bytes arrived, but they do not match the checksum: they were damaged in storage or in transit.
 *
 * @category errors
 */
export class DownloadCorrupted extends /* #__PURE__ */ TaggedError<DownloadCorrupted>()("DownloadCorrupted", {
  fileId: Schema.String,
  /** Such as `crc32`. */
  algorithm: Schema.String,
  /** The checksum of the file, in base64. */
  expected: Schema.String,
  /** The checksum of the bytes that arrived. */
  received: Schema.String,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `${this.fileId} arrived damaged: its ${this.algorithm} is ${this.received}, not ${this.expected}. ` +
      "Nothing was kept. Download it again; if that fails too, report it to the service."
  }
}

/**
 * The checksum to compare a download with cannot be used: its algorithm is not available, or its value is malformed for
 * that algorithm. Nothing was requested.
 *
 * @category errors
 */
export class InvalidChecksum extends /* #__PURE__ */ TaggedError<InvalidChecksum>()("InvalidChecksum", {
  fileId: Schema.String,
  algorithm: Schema.String,
  problem: /* #__PURE__ */ Schema.Literal("algorithm", "value"),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    const { algorithm, fileId } = this
    return this.problem === "algorithm"
      ? `No algorithm ${quoted(algorithm)} is available to check ${fileId}. Use a crc32, ` +
        "crc64nvme or sha256 checksum, or provide the algorithm with Checksum.layer."
      : `The checksum given for ${fileId} is not a valid ${algorithm}. Give that of the whole file in base64, as an ` +
        "upload returns it; a composite checksum of several parts cannot be compared."
  }
}

/**
 * What a download fails with.
 *
 * @category errors
 */
export const DownloadError = /* #__PURE__ */ (() =>
  Schema.Union(
    ...ServiceError.members,
    ...StorageError.members,
    SourceChanged,
    DownloadCorrupted,
    DownloadIncomplete,
    InvalidChecksum,
    InvalidRange
  ).annotations({ identifier: "DownloadError" }))()

/** @category errors */
export type DownloadError = typeof DownloadError.Type
