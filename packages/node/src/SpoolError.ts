/** The error of a stream's temporary copy on disk. */
import { tooManyOpen } from "@stevedore/core/ConnectionError"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { quoted } from "@stevedore/core/parts/text"
import * as Recovery from "@stevedore/core/Recovery"
import * as Schema from "effect/Schema"

/**
 * A stream cannot be written to its temporary file: there is no space, no permission or no such directory. Nothing of it
 * is left there.
 *
 * @category errors
 */
export class SpoolUnwritable extends Schema.TaggedError<SpoolUnwritable>("@stevedore/node/SpoolUnwritable")(
  "SpoolUnwritable",
  {
    kind: ErrorKind.field("configuration"),
    fileName: Schema.String,
    /** Where the temporary file would be. */
    directory: Schema.String,
    /** The system's error code, such as `ENOSPC`, if there is one. */
    code: Schema.optional(Schema.String),
    attempts: Recovery.noAttempts
  }
) {
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${quoted(this.fileName)} cannot be written to a temporary file in ${quoted(this.directory)}${
      this.code === undefined ? "" : ` (${this.code})`
    }. ${
      tooManyOpen[this.code ?? ""] ??
        "Make room there, check that you can write to it, or choose another directory with directory."
    }`
  }
}
