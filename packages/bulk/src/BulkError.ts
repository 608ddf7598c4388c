/** What can go wrong with a job, and with a file besides the errors of its upload. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { quoted } from "@stevedore/core/parts/text"
import * as Recovery from "@stevedore/core/Recovery"
import { UploadError } from "@stevedore/core/UploadError"
import * as Schema from "effect/Schema"

/**
 * There is no job of this name.
 *
 * @category errors
 */
export class JobNotFound extends Schema.TaggedError<JobNotFound>("@stevedore/bulk/JobNotFound")("JobNotFound", {
  kind: ErrorKind.field("input"),
  job: Schema.String
}) {
  override get message(): string {
    return `There is no job ${quoted(this.job)} in this database. Submit it, or check the database and the name.`
  }
}

/**
 * The job is still loading, running or paused, and only a finished or cancelled one can be forgotten.
 *
 * @category errors
 */
export class JobNotFinished extends Schema.TaggedError<JobNotFinished>("@stevedore/bulk/JobNotFinished")(
  "JobNotFinished",
  { kind: ErrorKind.field("input"), job: Schema.String, state: Schema.String }
) {
  override get message(): string {
    return `The job ${quoted(this.job)} is ${this.state}. Cancel it first, or wait until it is done.`
  }
}

/**
 * There is a job of this name already, and it is not the one that was submitted: its files are elsewhere, or it was
 * cancelled and does not have all of them. Nothing was changed.
 *
 * @category errors
 */
export class JobDiffers extends Schema.TaggedError<JobDiffers>("@stevedore/bulk/JobDiffers")("JobDiffers", {
  kind: ErrorKind.field("input"),
  job: Schema.String,
  state: Schema.String,
  /** What is different, such as `its files are in /srv/a, not in /srv/b`. */
  problem: Schema.String
}) {
  override get message(): string {
    const isOver = this.state === "done" || this.state === "cancelled"
    return `There is a job ${quoted(this.job)} already (${this.state}), and ${this.problem}. Use another name, or ` +
      `${isOver ? "forget that job" : "let it end, or cancel it, and forget it"} first.`
  }
}

/**
 * The file ended the process that uploaded it, each time it was tried alone, or the upload died of a defect. Its
 * neighbours are not affected.
 *
 * @category errors
 */
export class Crashed extends Schema.TaggedError<Crashed>("@stevedore/bulk/Crashed")("Crashed", {
  kind: ErrorKind.field("input"),
  fileName: Schema.String,
  /** `process`: the process ended while nothing else ran in it. `defect`: the upload died of a defect. */
  what: Schema.Literal("process", "defect"),
  attempts: Recovery.attempts
}) {
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return this.what === "process"
      ? `${quoted(this.fileName)} ended its process ${this.attempts} times while it was uploaded alone. ` +
        "Look for what is special about it, such as its size, and retry it when that is mended."
      : `The upload of ${quoted(this.fileName)} died of a defect, which the log of its runner has.`
  }
}

/**
 * Why a file was not uploaded.
 *
 * @category errors
 */
export const FileError = Schema.Union(UploadError, Crashed)

/**
 * Why a file was not uploaded.
 *
 * @category errors
 */
export type FileError = typeof FileError.Type
