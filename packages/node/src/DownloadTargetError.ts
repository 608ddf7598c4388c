/**
 * The errors of a download's target path.
 *
 * @since 0.1.0
 */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Recovery from "@stevedore/core/Recovery"
import * as Schema from "effect/Schema"

/**
 * Something already exists at the path, and overwriting was not requested. It was not touched.
 *
 * @since 0.1.0
 * @category errors
 */
export class TargetExists extends Schema.TaggedError<TargetExists>("@stevedore/node/TargetExists")("TargetExists", {
  kind: ErrorKind.field("input"),
  path: Schema.String,
  attempts: Recovery.noAttempts
}) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${
      JSON.stringify(this.path)
    } already exists. Download to another path, or allow overwriting with overwrite: true.`
  }
}

/**
 * The file cannot be written: there is no such directory, no permission or no space, or what exists there is not a
 * file.
 *
 * @since 0.1.0
 * @category errors
 */
export class TargetUnwritable extends Schema.TaggedError<TargetUnwritable>("@stevedore/node/TargetUnwritable")(
  "TargetUnwritable",
  {
    kind: ErrorKind.field("configuration"),
    path: Schema.String,
    /** The system's error code, such as `ENOSPC`, if there is one. */
    code: Schema.optional(Schema.String),
    /** What exists there: a directory, or a pipe or a device. It is left alone. */
    occupied: Schema.optional(Schema.Literal("Directory", "NotAFile")),
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
    if (this.occupied !== undefined) {
      return `${JSON.stringify(this.path)} ${
        this.occupied === "Directory" ? "is a directory" : "is not a regular file"
      }, and was not changed. Download to another path.`
    }
    return `${JSON.stringify(this.path)} cannot be written${this.code === undefined ? "" : ` (${this.code})`}. ` +
      "Check that its directory exists, that you can write to it, and that there is enough space."
  }
}

/**
 * Any problem with a download's target path.
 *
 * @since 0.1.0
 * @category errors
 */
export const DownloadTargetError = Schema.Union(TargetExists, TargetUnwritable).annotations({
  identifier: "DownloadTargetError"
})

/**
 * @since 0.1.0
 * @category errors
 */
export type DownloadTargetError = typeof DownloadTargetError.Type
