/**
 * Everything that a download can end with, beside the bytes.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Recovery from "./Recovery.js"
import { ServiceError } from "./ServiceError.js"
import { SourceChanged } from "./SourceError.js"
import { StorageError } from "./StorageError.js"

/**
 * The bytes ended before the length that was declared for them. A download that can take up where it broke does so;
 * this is what is left when it cannot.
 *
 * @since 0.1.0
 * @category errors
 */
export class DownloadIncomplete extends Schema.TaggedError<DownloadIncomplete>("@stevedore/core/DownloadIncomplete")(
  "DownloadIncomplete",
  {
    fileId: Schema.String,
    /** In bytes. */
    expected: Schema.Int,
    /** In bytes. */
    received: Schema.Int,
    attempts: Recovery.attempts
  }
) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "retry"
  }
  override get message(): string {
    return `Of ${this.fileId} came ${this.received} bytes instead of ${this.expected} (${
      Recovery.describeAttempts(this)
    }). What came is not the file: download it again.`
  }
}

/**
 * The range has nothing in the file: it begins at its end or after it, or it is not a range of whole bytes.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidRange extends Schema.TaggedError<InvalidRange>("@stevedore/core/InvalidRange")("InvalidRange", {
  fileId: Schema.String,
  offset: Recovery.AnyNumber,
  length: Schema.optional(Recovery.AnyNumber),
  attempts: Recovery.noAttempts
}) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `There is nothing of ${this.fileId} from byte ${this.offset}${
      this.length === undefined ? "" : ` in a length of ${this.length}`
    }. Ask for a range that begins within the file, in whole bytes from 0, with a length of at least 1.`
  }
}

/**
 * What a download fails with.
 *
 * @since 0.1.0
 * @category errors
 */
export const DownloadError = Schema.Union(
  ServiceError,
  StorageError,
  SourceChanged,
  DownloadIncomplete,
  InvalidRange
).annotations({ identifier: "DownloadError" })

/**
 * @since 0.1.0
 * @category errors
 */
export type DownloadError = typeof DownloadError.Type
