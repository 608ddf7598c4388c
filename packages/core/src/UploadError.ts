/**
 * Everything that an upload can end with, beside the file.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { InvalidPartCount, SizeExceeded } from "./PlanError.js"
import * as Recovery from "./Recovery.js"
import { ServiceError } from "./ServiceError.js"
import { SourceError } from "./SourceError.js"
import { StorageError } from "./StorageError.js"

/**
 * An option of the upload is out of its range. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidUploadOption extends Schema.TaggedError<InvalidUploadOption>(
  "@stevedore/core/InvalidUploadOption"
)("InvalidUploadOption", {
  option: Schema.String,
  /** What would be right. */
  expected: Schema.String,
  attempts: Recovery.noAttempts
}) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `The option ${this.option} is not right: expected ${this.expected}.`
  }
}

/**
 * Complete was sent, and whether it took effect cannot be found out: its answers were lost, and the file could not be
 * asked for either. The bytes are in storage; nothing is to be sent again before this is known.
 *
 * @since 0.1.0
 * @category errors
 */
export class CompletionUnknown extends Schema.TaggedError<CompletionUnknown>("@stevedore/core/CompletionUnknown")(
  "CompletionUnknown",
  {
    fileId: Schema.String,
    /** The `_tag` of the last failure. */
    because: Schema.String,
    attempts: Recovery.attempts
  }
) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `All bytes of ${this.fileId} are in storage and the service was told, but no answer came (${this.because}, ${
      Recovery.describeAttempts(this)
    }). Ask for the file ${this.fileId} later: when it is there, the upload succeeded.`
  }
}

/**
 * The service's record of the completed file has another size than the source.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoredSizeDiffers extends Schema.TaggedError<StoredSizeDiffers>("@stevedore/core/StoredSizeDiffers")(
  "StoredSizeDiffers",
  {
    fileId: Schema.String,
    /** The source's size in bytes. */
    expected: Schema.Int,
    /** The record's. */
    actual: Schema.JsonNumber,
    attempts: Recovery.attempts
  }
) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `The service says that ${this.fileId} has ${this.actual} bytes, but ${this.expected} were sent. Do not ` +
      "rely on the file: report it to the service, and upload it again."
  }
}

/**
 * Another process, or another fiber, is uploading the same file to the same service.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadLocked extends Schema.TaggedError<UploadLocked>("@stevedore/core/UploadLocked")("UploadLocked", {
  name: Schema.String,
  attempts: Recovery.noAttempts
}) {
  /**
   * Nothing that is repeated at once helps.
   *
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${JSON.stringify(this.name)} is being uploaded to this service already. Wait for it, or upload it ` +
      "independently with resume: false."
  }
}

/**
 * Everything that an upload can end with, as a Schema: it crosses workers, ledgers and wires.
 *
 * @since 0.1.0
 * @category errors
 */
export const UploadError = Schema.Union(
  SourceError,
  StorageError,
  ServiceError,
  SizeExceeded,
  InvalidPartCount,
  InvalidUploadOption,
  CompletionUnknown,
  StoredSizeDiffers,
  UploadLocked
).annotations({ identifier: "UploadError" })

/**
 * Everything that an upload can end with, to be told apart by `_tag`.
 *
 * @since 0.1.0
 * @category errors
 */
export type UploadError = typeof UploadError.Type
