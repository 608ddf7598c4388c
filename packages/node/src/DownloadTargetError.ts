/** The errors of a download's target path. */
import { tooManyOpen } from "@stevedore/core/ConnectionError"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { quoted } from "@stevedore/core/parts/text"
import * as Recovery from "@stevedore/core/Recovery"
import * as Schema from "effect/Schema"

/**
 * Something already exists at the path, and overwriting was not requested. It was not touched.
 *
 * @category errors
 */
export class TargetExists extends Schema.TaggedError<TargetExists>("@stevedore/node/TargetExists")("TargetExists", {
  kind: ErrorKind.field("input"),
  path: Schema.String,
  attempts: Recovery.noAttempts
}) {
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${quoted(this.path)} already exists. Download to another path, or allow overwriting with overwrite: true.`
  }
}

/**
 * The file cannot be written: there is no such directory, no permission or no space, or what exists there is not a
 * file or cannot be replaced.
 *
 * @category errors
 */
export class TargetUnwritable extends Schema.TaggedError<TargetUnwritable>("@stevedore/node/TargetUnwritable")(
  "TargetUnwritable",
  {
    kind: ErrorKind.field("configuration"),
    path: Schema.String,
    /** The system's error code, such as `ENOSPC`, if there is one. */
    code: Schema.optional(Schema.String),
    /**
     * What exists there: a directory, a pipe or a device; or a file that cannot be replaced, because it is a mount point
     * or protected (immutable, or another user's in a directory like `/tmp`). It is left alone.
     */
    occupied: Schema.optional(Schema.Literal("Directory", "NotAFile", "MountPoint", "Protected")),
    attempts: Recovery.noAttempts
  }
) {
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    const path = quoted(this.path)
    if (this.occupied !== undefined) {
      return `${path} ${occupants[this.occupied]}, and was not changed. Download to another path.`
    }
    const code = this.code === undefined ? "" : ` (${this.code})`
    return `${path} cannot be written${code}. ${advice[this.code ?? ""] ?? checkAll}`
  }
}

const occupants: Record<NonNullable<TargetUnwritable["occupied"]>, string> = {
  Directory: "is a directory",
  NotAFile: "is not a regular file",
  MountPoint: "is a mount point, such as a file bound into a container, which cannot be replaced as a whole",
  Protected:
    "cannot be replaced, because it is immutable, or another user's in a directory where only owners replace files"
}

const checkAll = "Check that its directory exists, that you can write to it, and that there is enough space."

const advice: Readonly<Record<string, string | undefined>> = {
  ...tooManyOpen,
  ENOSPC: "The disk is full: make room there, or download to another disk.",
  EDQUOT: "Your quota on that disk is used up: make room there, or download to another disk.",
  EFBIG: "The file is larger than its file system or this process may have it (ulimit -f): download to another disk.",
  EROFS: "The disk is mounted read-only: download to another disk.",
  EBUSY: "What is there is in use: a mount point or another program's. Download to another path."
}

/**
 * Any problem with a download's target path.
 *
 * @category errors
 */
export const DownloadTargetError = Schema.Union(TargetExists, TargetUnwritable).annotations({
  identifier: "DownloadTargetError"
})

/** @category errors */
export type DownloadTargetError = typeof DownloadTargetError.Type
