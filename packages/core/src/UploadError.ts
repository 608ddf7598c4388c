/** Every way an upload can fail. */
import * as Schema from "effect/Schema"
import { quoted } from "./base/text.js"
import * as Feasibility from "./errors/feasibility.js"
import { InvalidPartCount, SizeExceeded } from "./errors/planError.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"
import { ServiceError } from "./ServiceError.js"
import { SourceError } from "./SourceError.js"
import { StorageError } from "./StorageError.js"

/**
 * An option of the upload is out of range. Nothing was sent.
 *
 * @category errors
 */
export class InvalidUploadOption extends TaggedError<InvalidUploadOption>()("InvalidUploadOption", {
  option: Schema.String,
  /** What would be valid. */
  expected: Schema.String,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `The option ${this.option} is invalid: expected ${this.expected}.`
  }
}

/**
 * Complete was sent, but whether it took effect is unknown: no response says so, and the file could not be looked
 * up either. The bytes are in storage; do not send anything again before this is known.
 *
 * @category errors
 */
export class CompletionUnknown extends TaggedError<CompletionUnknown>()("CompletionUnknown", {
  fileId: Schema.String,
  /** The `_tag` of the last failure. */
  because: Schema.String,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `All bytes of ${this.fileId} are in storage and Complete was sent, but no response confirmed it (${this.because}, ${
      Recovery.describeAttempts(this)
    }). Look up the file ${this.fileId} later: if it is there, the upload succeeded.`
  }
}

/**
 * Whether Complete took effect was unknown, and the service's record of the file, asked for then, has another size than
 * the source. What Complete itself says of a size decides nothing.
 *
 * @category errors
 */
export class StoredSizeDiffers extends TaggedError<StoredSizeDiffers>()("StoredSizeDiffers", {
  fileId: Schema.String,
  /** The source's size in bytes. */
  expected: Schema.Int,
  /** The size in the record. */
  actual: Schema.JsonNumber,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `The service says that ${this.fileId} has ${this.actual} bytes, but ${this.expected} were sent. Do not ` +
      "rely on the file: report it to the service, and upload it again."
  }
}

/**
 * What storage returns is not what was sent. Only `Uploads.readBack` detects this.
 *
 * @category errors
 */
export class ContentDiffers extends TaggedError<ContentDiffers>()("ContentDiffers", {
  fileId: Schema.String,
  /** Such as `crc32`. */
  algorithm: Schema.String,
  /** The checksum of what was sent, in base64. */
  sent: Schema.String,
  /** The checksum of what was read back. */
  stored: Schema.String,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `The file ${this.fileId} differs from what was sent: its ${this.algorithm} is ${this.stored}, not ` +
      `${this.sent}. Do not rely on the file: report it to the service, and upload it again.`
  }
}

/**
 * The file is there, but could not be read back as `Uploads.readBack` requires.
 *
 * @category errors
 */
export class ContentUnverified extends TaggedError<ContentUnverified>()("ContentUnverified", {
  fileId: Schema.String,
  /** The `_tag` of the failure. */
  because: Schema.String,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `The file ${this.fileId} is complete, but could not be read back (${this.because}, ${
      Recovery.describeAttempts(this)
    }). Download it later and compare it; nothing needs to be uploaded again.`
  }
}

/**
 * The connection is too slow: the URLs of a session expire before the upload is done, in this session and in any other.
 * Known after half a minute of sending, or after 5 % of the file.
 *
 * @category errors
 */
export class DeadlineUnreachable extends TaggedError<DeadlineUnreachable>()("DeadlineUnreachable", {
  fileName: Schema.String,
  /** The source's size in bytes. */
  size: Schema.Int,
  /** The bytes per second needed to finish in time. */
  needs: Schema.JsonNumber,
  /** The measured bytes per second of the connection. */
  has: Schema.JsonNumber,
  /** The bandwidth limit in bytes per second, if there is one. */
  limit: Schema.optional(Schema.JsonNumber),
  /** When the URLs expire, in the server's time. */
  deadline: Schema.Date,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    const limit = this.limit === undefined
      ? ""
      : ` raise the bandwidth limit of ${Feasibility.megabits(this.limit)} Mbit/s,`
    const rates = `impossible: ${Feasibility.describeRates(this)}`
    return `${
      quoted(this.fileName)
    } cannot finish before its URLs expire at ${this.deadline.toISOString()}: ${rates}. ` +
      `Use a faster connection or a smaller file,${limit} or try anyway with onImpossible: "continue".`
  }
}

/**
 * The ledger in force has no unfinished upload with this id for this service. Nothing was sent.
 *
 * @category errors
 */
export class UnfinishedUploadNotFound extends TaggedError<UnfinishedUploadNotFound>()("UnfinishedUploadNotFound", {
  id: Schema.String,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `There is no unfinished upload ${quoted(this.id)}: it finished, was forgotten, or belongs to another ` +
      "service. Upload it again, or list the unfinished uploads."
  }
}

/**
 * Another process, or another fiber, is uploading the same file to the same service.
 *
 * @category errors
 */
export class UploadLocked extends TaggedError<UploadLocked>()("UploadLocked", {
  fileName: Schema.String,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `${quoted(this.fileName)} is already being uploaded to this service. Wait for it, or upload it ` +
      "independently with resume: false."
  }
}

/**
 * Every way an upload can fail, as a Schema: it can cross workers, ledgers and networks.
 *
 * @category errors
 */
export const UploadError = /* #__PURE__ */ (() =>
  // The members of each union instead of the union: HttpApi reads the status of a member, but not of a member's member.
  Schema.Union(
    ...SourceError.members,
    ...StorageError.members,
    ...ServiceError.members,
    SizeExceeded,
    InvalidPartCount,
    InvalidUploadOption,
    CompletionUnknown,
    StoredSizeDiffers,
    ContentDiffers,
    ContentUnverified,
    DeadlineUnreachable,
    UnfinishedUploadNotFound,
    UploadLocked
  ).annotations({ identifier: "UploadError" }))()

/**
 * Every way an upload can fail, distinguished by `_tag`.
 *
 * @category errors
 */
export type UploadError = typeof UploadError.Type

export {
  /**
   * This file cannot be sent in the number of parts that was asked for.
   *
   * @category errors
   */
  InvalidPartCount,
  /**
   * Every error for which no upload can be planned.
   *
   * @category errors
   */
  type PlanError,
  /**
   * The file is larger than the service takes.
   *
   * @category errors
   */
  SizeExceeded
} from "./errors/planError.js"
