/** Why an upload cannot be planned. Nothing was sent. */
import * as Schema from "effect/Schema"
import { quoted } from "../base/text.js"
import * as Recovery from "../Recovery.js"
import type { EmptySource, InvalidSource } from "../SourceError.js"
import { TaggedError } from "./taggedError.js"

/** The file is larger than the service accepts this way. */
export class SizeExceeded extends TaggedError<SizeExceeded>()("SizeExceeded", {
  fileName: Schema.String,
  /** In bytes. */
  size: Schema.Int,
  /** In bytes. */
  limit: Schema.Int,
  /** Which way has this limit. */
  path: Schema.Literal("single", "multipart"),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `${quoted(this.fileName)} has ${this.size} bytes; ${
      this.path === "single" ? "a single PUT" : "an upload"
    } takes at most ${this.limit}. ${
      this.path === "single" ? "Upload it in parts (strategy: \"multipart\")." : "Split the file."
    }`
  }
}

/** The requested number of parts is not possible: it is outside 1 to 10000, or leads to parts that storage rejects. */
export class InvalidPartCount extends TaggedError<InvalidPartCount>()("InvalidPartCount", {
  parts: Recovery.AnyNumber,
  /** The file's size in bytes. */
  size: Schema.Int,
  /** The smallest number that is possible. */
  atLeast: Schema.Int,
  /** The largest number that is possible. */
  atMost: Schema.Int,
  /** Whether the caller asked for this number, or the service returned it. */
  origin: Schema.Literal("asked", "given"),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `${this.parts} parts do not fit ${this.size} bytes: expected from ${this.atLeast} to ${this.atMost}. ` +
      (this.origin === "given"
        ? "It was given by the service: report it."
        : "Change the number, or the profile's limits.minimumPartSize.")
  }
}

/** Why an upload cannot be planned. Nothing was sent. */
export type PlanError = EmptySource | InvalidSource | SizeExceeded | InvalidPartCount
