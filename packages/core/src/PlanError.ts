/**
 * Why there is no plan for an upload. Nothing was sent.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Recovery from "./Recovery.js"
import type { EmptySource, InvalidSource } from "./SourceError.js"

/**
 * The file is larger than the service takes on that way.
 *
 * @since 0.1.0
 * @category errors
 */
export class SizeExceeded extends Schema.TaggedError<SizeExceeded>("@stevedore/core/SizeExceeded")("SizeExceeded", {
  name: Schema.String,
  /** In bytes. */
  size: Schema.Int,
  /** In bytes. */
  limit: Schema.Int,
  /** Which way has the limit. */
  path: Schema.Literal("single", "multipart"),
  attempts: Recovery.noAttempts
}) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${JSON.stringify(this.name)} has ${this.size} bytes; ${
      this.path === "single" ? "a single PUT" : "an upload"
    } takes at most ${this.limit}. ${
      this.path === "single" ? "Let it go up in parts (strategy: \"multipart\")." : "Split the file."
    }`
  }
}

/**
 * The number of parts asked for cannot be: outside 1 to 10000, or it would give parts that storage refuses.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidPartCount extends Schema.TaggedError<InvalidPartCount>("@stevedore/core/InvalidPartCount")(
  "InvalidPartCount",
  {
    parts: Recovery.AnyNumber,
    /** The file's size in bytes. */
    size: Schema.Int,
    /** The least that would be right. */
    atLeast: Schema.Int,
    /** The most that would be right. */
    atMost: Schema.Int,
    /** Whether the user asked for it, or the service gave it. */
    origin: Schema.Literal("asked", "given"),
    attempts: Recovery.noAttempts
  }
) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${this.parts} parts do not fit ${this.size} bytes${
      this.origin === "given" ? " (that many URLs were given by the service)" : ""
    }: right would be a whole number from ${this.atLeast} to ${this.atMost}, for parts of 5 MiB to 5 GiB. ` +
      (this.origin === "asked" ? "Ask for one of these, or leave it to the service." : "Report it to the service.")
  }
}

/**
 * Why there is no plan. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export type PlanError = EmptySource | InvalidSource | SizeExceeded | InvalidPartCount
