/** The lines of `--json` of uploads and downloads: what programs that read them can rely on. Each decodes with its Schema here. */
import { ErrorKind } from "@stevedore/core/ErrorKind"
import { FileRecord } from "@stevedore/core/FileRecord"
import { Proof } from "@stevedore/core/UploadedFile"
import { Feasibility, UploadPhase } from "@stevedore/core/UploadProgress"
import * as Schema from "effect/Schema"
import { UploadedFile } from "./uploadedFile.js"

/** A failure: its `_tag`, its kind, the fields of that error, and its message, which names the next step. */
export const Failure = Schema.Struct(
  { _tag: Schema.String, kind: ErrorKind, message: Schema.String },
  { key: Schema.String, value: Schema.Unknown }
).annotations({ identifier: "Failure" })

/** The progress of an upload, at most once per second. */
export const Progress = Schema.Struct({
  type: Schema.Literal("progress"),
  path: Schema.String,
  phase: UploadPhase,
  /** In bytes, as `sent` and `confirmed`. */
  size: Schema.Number,
  /** Handed to the network. Falls back when an attempt is lost. */
  sent: Schema.Number,
  /** What storage has confirmed. */
  confirmed: Schema.Number,
  parts: Schema.Struct({ total: Schema.Number, confirmed: Schema.Number }),
  sessions: Schema.Number,
  /** In bytes per second; null until known. */
  speed: Schema.NullOr(Schema.Number),
  /** In seconds; null until known. */
  timeLeft: Schema.NullOr(Schema.Number),
  /** Whether it finishes before its URLs expire. Rates are in bytes per second. */
  feasibility: Feasibility
}).annotations({ identifier: "Progress" })

/** The last line of an upload that succeeded. */
export const Completed = Schema.Struct({
  type: Schema.Literal("completed"),
  path: Schema.String,
  /** The service's record, with every field that it sent. */
  file: FileRecord,
  bytes: Schema.Number,
  /** The parts of the session that succeeded; 1 for a single PUT. */
  parts: Schema.Number,
  /** How many sessions were opened. */
  sessions: Schema.Number,
  seconds: Schema.Number,
  /** Of the whole file, as sent; null if it could not be computed. */
  checksum: Schema.NullOr(Schema.Struct({ algorithm: Schema.String, value: Schema.String })),
  /** How it is known that storage holds what was read. */
  proof: Proof,
  /** The entry that it is of the project of `--into`. */
  entryId: Schema.optional(Schema.String)
}).annotations({ identifier: "Completed" })

/** The last line of what failed. A download names its id. */
export const Failed = Schema.Struct({
  type: Schema.Literal("failed"),
  path: Schema.optional(Schema.String),
  fileId: Schema.optional(Schema.String),
  error: Failure
}).annotations({ identifier: "Failed" })

/**
 * With `--json`, the last line of standard error of every command that does not exit with 0. Its `_tag` is that of the
 * error: a mistake in the command line is an `InvalidInput`, a signal `Interrupted`, and a bug in stevedore `Defect`.
 */
export const CommandFailed = Schema.Struct({
  type: Schema.Literal("failed"),
  error: Failure
}).annotations({ identifier: "CommandFailed" })

/** A file that was not uploaded, because there was no need to, or because it is none. */
export const Skipped = Schema.Struct({
  type: Schema.Literal("skipped"),
  path: Schema.String,
  /**
   * `uploaded`: it is unchanged, and at the service. `special`: a pipe, a device or a socket. Of a download,
   * `there`: an earlier command saved it in its place, and it is as it was.
   */
  reason: Schema.Literal("uploaded", "link", "special", "empty", "there"),
  /** If it is at the service. */
  fileId: Schema.optional(Schema.String),
  /** The entry that it is of the project of `--into`. */
  entryId: Schema.optional(Schema.String)
}).annotations({ identifier: "Skipped" })

/**
 * A file that was chosen, and not tried, or not to its end, because the command was stopped. A download names its id.
 */
export const NotTried = Schema.Struct({
  type: Schema.Literal("notTried"),
  path: Schema.optional(Schema.String),
  fileId: Schema.optional(Schema.String)
}).annotations({ identifier: "NotTried" })

/** The last line of `upload --json`, and of a `download --json` of several files. */
export const Summary = Schema.Struct({
  type: Schema.Literal("summary"),
  /** All that were chosen. Each is done, skipped, failed or not tried; `skipped` also counts what was no choice. */
  files: Schema.Number,
  /** Of an upload. */
  uploaded: Schema.optional(Schema.Number),
  /** Of a download. */
  downloaded: Schema.optional(Schema.Number),
  /** Those of the uploaded files that continued an earlier upload. */
  resumed: Schema.Number,
  /** How many files were skipped, by reason. */
  skipped: Schema.Record({ key: Schema.String, value: Schema.Number }),
  failed: Schema.Number,
  /** Those that the command was stopped before, or in the middle of. */
  notTried: Schema.Number,
  /** By this command, without what an earlier one had sent. */
  bytesSent: Schema.optional(Schema.Number),
  /** By this command. */
  bytesReceived: Schema.optional(Schema.Number),
  /** What an earlier command had sent of the uploaded files. */
  bytesResumed: Schema.Number,
  seconds: Schema.Number,
  /** Of what was moved, in bytes per second; null if no time passed. */
  speed: Schema.NullOr(Schema.Number),
  /** Each reason once. */
  failures: Schema.Array(Schema.Struct({
    _tag: Schema.String,
    message: Schema.String,
    paths: Schema.Array(Schema.String)
  }))
}).annotations({ identifier: "Summary" })

/** A file that `upload --dry-run` would send. */
export const Planned = Schema.Struct({
  type: Schema.Literal("planned"),
  path: Schema.String,
  bytes: Schema.Number
}).annotations({ identifier: "Planned" })

/** The last line of `upload --dry-run --json`. */
export const Plan = Schema.Struct({
  type: Schema.Literal("plan"),
  files: Schema.Number,
  bytes: Schema.Number,
  /** To the service; those to storage are not limited. */
  calls: Schema.Number,
  /** How many calls the service allows in how many seconds; null if it states no limit. */
  rateLimit: Schema.NullOr(Schema.Struct({ calls: Schema.Number, seconds: Schema.Number })),
  /** How long the calls take at that limit; null if there is none. */
  seconds: Schema.NullOr(Schema.Number),
  /** How long the bytes take at the bandwidth limit that is in force now; null if there is none. */
  bytesSeconds: Schema.NullOr(Schema.Number),
  /** Which of the two takes longer; null if neither is limited. */
  by: Schema.NullOr(Schema.Literal("bytes", "calls"))
}).annotations({ identifier: "Plan" })

/** A line of `upload --json`. */
export const UploadReport = Schema.Union(Progress, Completed, Failed, Skipped, NotTried, Summary, Planned, Plan)
  .annotations({ identifier: "UploadReport" })

/** The line of `download --json`. */
export const Downloaded = Schema.Struct({
  type: Schema.Literal("downloaded"),
  fileId: Schema.String,
  path: Schema.String,
  bytes: Schema.Number,
  seconds: Schema.Number
}).annotations({ identifier: "Downloaded" })

/** A line of `uploads --json`: an upload that was interrupted, or that is running. */
export const Unfinished = Schema.Struct({
  type: Schema.Literal("unfinished"),
  /** For `uploads --forget`. */
  id: Schema.String,
  /** The base URL of the service. */
  service: Schema.String,
  name: Schema.String,
  mediaType: Schema.String,
  /** In bytes, as `confirmed`. */
  size: Schema.Number,
  confirmed: Schema.Number,
  parts: Schema.Struct({ total: Schema.Number, confirmed: Schema.Number }),
  phase: Schema.Literal("uploading", "completing"),
  /** An ISO 8601 date. */
  startedAt: Schema.String,
  /** Whether a process of this machine is running it. If not, it was interrupted. */
  running: Schema.Boolean
}).annotations({ identifier: "Unfinished" })

export { UploadedFile }

/** A line of `uploaded --json`. */
export const Uploaded = Schema.Struct({
  type: Schema.Literal("uploaded"),
  ...UploadedFile.fields
}).annotations({ identifier: "Uploaded" })

/** A line of `limit --json`: the bandwidth limit of a command that runs. */
export const Limited = Schema.Struct({
  type: Schema.Literal("limit"),
  pid: Schema.Int.pipe(Schema.positive()),
  /** `upload` or `download`. */
  command: Schema.String,
  /** As it was written, such as `20M` or `08:00,5M 18:00,off`. */
  limit: Schema.String,
  /** In force now, in bytes per second; null if there is no limit. */
  rate: Schema.NullOr(Schema.Number)
}).annotations({ identifier: "Limited" })
