/** What `stevedore bulk` is told, and how it fails. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as ExitCode from "../print/exitCode.js"

/** A job ended and not all of its files were uploaded. */
export class JobFailed extends Schema.TaggedError<JobFailed>("@stevedore/cli/JobFailed")("JobFailed", {
  /** That of the failures; of several, the gravest. */
  kind: ErrorKind.ErrorKind,
  exitCode: Schema.Int,
  job: Schema.String,
  /** In files, as the next. */
  failed: Schema.Number,
  /** Those of a cancelled job that were not tried. */
  cancelled: Schema.Number
}) {
  override get message(): string {
    const left = this.cancelled === 0 ? "" : ` and ${this.cancelled} cancelled`
    return `${this.failed} files of ${JSON.stringify(this.job)} failed${left}. See stevedore bulk failures, and try ` +
      "again with stevedore bulk retry and start."
  }
}

/**
 * A job was stopped, because each file that is left would fail by the same: none of them counts as failed, and the same
 * command goes on with them.
 */
export class JobStopped extends Schema.TaggedError<JobStopped>("@stevedore/cli/JobStopped")("JobStopped", {
  kind: ErrorKind.field("configuration"),
  job: Schema.String,
  reason: Schema.Literal("token", "connection", "room", "directory", "outage"),
  /** What a file has met. */
  problem: Schema.String
}) {
  get exitCode(): number {
    return this.reason === "token" ? ExitCode.unauthorized : ExitCode.failed
  }
  override get message(): string {
    return `${JSON.stringify(this.job)} was stopped, because each file that is left would fail by the same. ` +
      `${this.problem} The same command goes on with the files that are left.`
  }
}

/** The database with the jobs cannot be reached, or does not do what it is asked. */
export class DatabaseFailed extends Schema.TaggedError<DatabaseFailed>("@stevedore/cli/DatabaseFailed")(
  "DatabaseFailed",
  {
    kind: ErrorKind.field("tryLater"),
    /** What it said. */
    problem: Schema.String
  }
) {
  override get message(): string {
    return `The database with the jobs failed: ${this.problem}. Check that it runs and what it says, and run the ` +
      "command again: nothing is lost."
  }
}

/** Where the jobs are. */
export type Place =
  | { readonly _tag: "Sqlite"; readonly file: Option.Option<string> }
  | { readonly _tag: "Postgres"; readonly url: Redacted.Redacted }
