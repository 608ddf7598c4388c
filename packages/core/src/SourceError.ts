/** What can be wrong with the file to upload. */
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { printable, quoted } from "./base/text.js"
import { tooManyOpen } from "./ConnectionError.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"

/**
 * The source has no bytes. The service refuses files of size 0 (service contract).
 *
 * @category errors
 */
export class EmptySource extends TaggedError<EmptySource>()("EmptySource", {
  fileName: Schema.String,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `${quoted(this.fileName)} is empty: the service accepts files of at least 1 byte. Leave it out.`
  }
}

/**
 * The service would refuse this, which is known before any request: a name that is empty or over 1024 characters, a
 * media type over 255 characters, or a size that is not a whole number. Or the fingerprint is one that no ledger could
 * keep, such as one with a modification date of `NaN`.
 *
 * @category errors
 */
export class InvalidSource extends TaggedError<InvalidSource>()("InvalidSource", {
  fileName: Schema.String,
  field: Schema.Literal("name", "mediaType", "size", "fingerprint"),
  /** What would be valid. */
  expected: Schema.String,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    const shown = this.fileName.length > 80 ? `${this.fileName.slice(0, 80)}…` : this.fileName
    return `The ${this.field} of ${quoted(shown)} is invalid: expected ${this.expected}.`
  }
}

/**
 * The source is not what it was when the transfer began: its size, date or identity differs, or it produced more or
 * fewer bytes than declared. Complete is never sent after this. For a download, the source is the content in storage,
 * identified by its etag and size.
 *
 * @category errors
 */
export class SourceChanged extends TaggedError<SourceChanged>()("SourceChanged", {
  fileName: Schema.String,
  /**
   * What differs. `tooShort` and `tooLong`: what it produced, from the bytes that were declared, whose numbers `actual`
   * and `expected` are.
   */
  what: Schema.Literal("size", "modified", "identity", "content", "tooShort", "tooLong"),
  expected: Schema.optional(Schema.String),
  actual: Schema.optional(Schema.String),
  transfer: Schema.Literal("upload", "download").pipe(
    Schema.propertySignature,
    Schema.withConstructorDefault((): "upload" | "download" => "upload")
  ),
  attempts: Recovery.attempts
}) {
  override get message(): string {
    if (this.what === "tooShort" || this.what === "tooLong") {
      return `${quoted(this.fileName)} ${lengths[this.what](this)}`
    }
    const difference = this.expected === undefined || this.actual === undefined
      ? ""
      : `: it was ${printable(this.expected)}, now it is ${printable(this.actual)}`
    return `${quoted(this.fileName)} changed while it was ${this.transfer}ed (${this.what}${difference}). ` +
      (this.transfer === "upload"
        ? "Nothing was completed. Upload it again when nothing writes to it."
        : "The earlier bytes are of another version. Download it again from the start.")
  }
}

const lengths = {
  tooShort: ({ actual, expected }: SourceChanged) =>
    `ended after ${actual ?? "fewer"} of ${expected ?? "the"} declared bytes. Nothing was completed. Check why it ` +
    "ended, or declare the size that it has.",
  tooLong: ({ actual, expected }: SourceChanged) =>
    `went on after ${expected ?? "the"} declared bytes${actual === undefined ? "" : `: it has at least ${actual}`}. ` +
    "Nothing was completed. Declare the size that it has."
}

/**
 * The source cannot be read. `cause` has what it failed with, if that is known: it may hold secrets, so it is
 * `Redacted`, and no message, log or encoded form has it.
 *
 * @category errors
 */
export class SourceUnreadable extends TaggedError<SourceUnreadable>()("SourceUnreadable", {
  fileName: Schema.String,
  reason: Schema.Literal(
    "NotFound",
    "PermissionDenied",
    "Directory",
    "NotAFile",
    "ReadOnce",
    "Stalled",
    "StreamFailed",
    "Failed"
  ),
  /** The system error code, if there is one, such as `EIO`. */
  code: Schema.optional(Schema.String),
  /** Of a file on the web: the status that its server answered with, if it did. */
  status: Schema.optional(Schema.Int),
  /** Of a file on the web: what its server said, or did. */
  problem: Schema.optional(Schema.String),
  attempts: Recovery.attempts
}) {
  override get cause(): Redacted.Redacted<unknown> | undefined {
    return causes.get(this)
  }
  override get message(): string {
    if (this.problem !== undefined) {
      return `${quoted(this.fileName)} could not be read: ${printable(this.problem)}. ` +
        "Check its URL, or sign a new one, then upload it again."
    }
    const limit = tooManyOpen[this.code ?? ""]
    return `${quoted(this.fileName)} ${limit === undefined ? reasons[this.reason] : "could not be opened"}${
      this.code === undefined ? "" : ` (${this.code})`
    }.${limit === undefined ? "" : ` ${limit}`}`
  }
}

// Beside the errors instead of in them, where whatever prints an object would find it
const causes = new WeakMap<SourceUnreadable, Redacted.Redacted<unknown>>()

/**
 * The same error with what it was caused by, for whoever asks for its `cause`.
 *
 * @example
 * import { SourceError } from "@stevedore/core"
 * import { Effect, Redacted } from "effect"
 *
 * const read = (fileName: string, run: () => Promise<Uint8Array>) =>
 *   Effect.tryPromise({
 *     try: run,
 *     catch: (cause) =>
 *       SourceError.withCause(new SourceError.SourceUnreadable({ fileName, reason: "StreamFailed" }), cause)
 *   })
 *
 * const originalOf = ({ cause }: SourceError.SourceUnreadable) => cause && Redacted.value(cause)
 *
 * @category combinators
 */
export const withCause = (error: SourceUnreadable, cause: unknown): SourceUnreadable => {
  causes.set(error, Redacted.make(cause))
  return error
}

const reasons: Record<SourceUnreadable["reason"], string> = {
  NotFound: "does not exist: check its name and its path",
  PermissionDenied: "is not readable: check its permissions",
  Directory: "is a directory: upload the files in it",
  NotAFile: "is not a regular file: copy its content into one, or upload it as a stream",
  Stalled: "produced no bytes until the stall timeout: check what produces it, or raise Timeouts",
  ReadOnce: "can be read only once, and that was done: use a source that can be read again",
  StreamFailed: "failed while it was read: its cause says why. Upload it again when that is mended",
  Failed: "could not be read: check where it comes from, then upload it again"
}

/**
 * Everything that can be wrong with a source. Its encoded form decodes back, so it can cross workers and networks.
 *
 * @category errors
 */
export const SourceError = /* #__PURE__ */ Schema.Union(EmptySource, InvalidSource, SourceChanged, SourceUnreadable)
  .annotations({
    identifier: "SourceError"
  })

/** @category errors */
export type SourceError = typeof SourceError.Type

/**
 * Whether a value is one of these errors, to find one in a chain of causes.
 *
 * @category predicates
 */
export const isSourceError = (value: unknown): value is SourceError =>
  SourceError.members.some((error) => value instanceof error)
