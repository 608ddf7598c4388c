/**
 * Everything that an upload can end with, beside the file.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Recovery from "./Recovery.js"
import { ServiceError } from "./ServiceError.js"
import { SourceError } from "./SourceError.js"
import { StorageError } from "./StorageError.js"
import { InvalidPartCount, SizeExceeded } from "./UploadPlan.js"

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
  CompletionUnknown
).annotations({ identifier: "UploadError" })

/**
 * @since 0.1.0
 * @category errors
 */
export type UploadError = typeof UploadError.Type
