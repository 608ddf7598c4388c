/** The lines of `--json`: what programs that read them can rely on. Each decodes with its Schema here. */
import { ErrorKind } from "@stevedore/core/ErrorKind"
import { FileRecord } from "@stevedore/core/FileRecord"
import type { ListError } from "@stevedore/core/ListError"
import type { UploadError } from "@stevedore/core/UploadError"
import { Feasibility } from "@stevedore/core/UploadProgress"
import type { UploadProgress } from "@stevedore/core/UploadProgress"
import { UploadPhase } from "@stevedore/core/UploadProgress"
import type { UnfinishedUpload } from "@stevedore/core/Uploads"
import type * as Uploads from "@stevedore/core/Uploads"
import type { UrlRefused } from "@stevedore/node/HttpSource"
import type { SpoolUnwritable } from "@stevedore/node/SpoolError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { messageOf } from "./message.js"
import * as UploadReports from "./uploadReports.js"

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
  checksum: Schema.NullOr(Schema.Struct({ algorithm: Schema.String, value: Schema.String }))
}).annotations({ identifier: "Completed" })

/** The line as it is printed: the record of the file with its fields where the service has them. */
export const encodeCompleted = Schema.encodeSync(Completed)

/** The last line of an upload that failed. */
export const Failed = Schema.Struct({
  type: Schema.Literal("failed"),
  path: Schema.String,
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

/** A line of `upload --json`. */
export const UploadReport = Schema.Union(
  Progress,
  Completed,
  Failed,
  UploadReports.Skipped,
  UploadReports.NotTried,
  UploadReports.Summary,
  UploadReports.Planned,
  UploadReports.Plan
).annotations({ identifier: "UploadReport" })

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

/** The first line of `sandbox --json`: both servers accept requests from now on. */
export const Listening = Schema.Struct({
  type: Schema.Literal("listening"),
  /** The base URL of the service. */
  api: Schema.String,
  /** The origin of the storage. */
  storage: Schema.String,
  /** A token that this sandbox accepts, and nothing else does. */
  token: Schema.String
}).annotations({ identifier: "Listening" })

/** The first line of `serve --json`: the service answers requests from now on. */
export const Serving = Schema.Struct({
  type: Schema.Literal("listening"),
  /** The base URL of the service. */
  api: Schema.String,
  /** A token that may do everything there, of a service that keeps its files in a directory. */
  token: Schema.optional(Schema.String),
  /** The path of the profile of the service; of one with a bucket, the profile itself. */
  profile: Schema.Union(Schema.String, Schema.Record({ key: Schema.String, value: Schema.Unknown }))
}).annotations({ identifier: "Serving" })

/** The line for an unfinished upload. */
export const unfinished = (upload: UnfinishedUpload, running: boolean): typeof Unfinished.Type => ({
  type: "unfinished",
  ...upload,
  startedAt: upload.startedAt.toISOString(),
  running
})

const seconds = (duration: Duration.Duration): number | null =>
  Duration.isFinite(duration) ? Math.round(Duration.toMillis(duration)) / 1000 : null

/** The line for the progress of an upload. */
export const progress = (path: string, now: UploadProgress): typeof Progress.Type => ({
  type: "progress",
  path,
  phase: now.phase,
  size: now.size,
  sent: now.sent,
  confirmed: now.confirmed,
  parts: now.parts,
  sessions: now.sessions,
  speed: Option.getOrNull(Option.map(now.speed, Math.round)),
  timeLeft: Option.getOrNull(Option.map(now.timeLeft, seconds)),
  feasibility: now.feasibility
})

const isCodec = (value: unknown): value is Schema.Schema<unknown, unknown> => Schema.isSchema(value)

// The class of an error is its Schema.
const fieldsOf = (error: object): object => {
  const encoded = isCodec(error.constructor) ? Schema.encodeUnknownEither(error.constructor)(error) : Either.left(error)
  return Option.getOrElse(Option.filter(Either.getRight(encoded), Predicate.isRecord), () => ({}))
}

/** What every error of the command and of the library has. */
export interface KnownError {
  readonly _tag: string
  readonly kind: ErrorKind
}

/** An error as the lines of `--json` show it. */
export const failure = (error: KnownError): typeof Failure.Type => ({
  ...fieldsOf(error),
  _tag: error._tag,
  kind: error.kind,
  message: messageOf(error)
})

/** Why a file was not uploaded. */
export type FileError = UploadError | ListError | SpoolUnwritable | UrlRefused

/** The last line of an upload that failed, from its error. */
export const failed = (path: string, error: FileError): typeof Failed.Type => ({
  type: "failed",
  path,
  error: failure(error)
})

/** The last line of an upload that succeeded, from its record and counts. */
export const completed = (
  path: string,
  { sent, ...file }: Uploads.UploadedFile,
  took: Duration.Duration
): typeof Completed.Type => ({
  type: "completed",
  path,
  file,
  bytes: sent.bytes,
  parts: sent.parts,
  sessions: sent.sessions,
  seconds: seconds(took) ?? 0,
  checksum: sent.checksum ?? null
})

/** The line of a file that could not be downloaded. */
export const notDownloaded = (fileId: string, error: KnownError) => ({
  type: "failed",
  fileId,
  error: failure(error)
} as const)

/** The line of a download. */
export const downloaded = (
  { took, ...file }: {
    readonly fileId: string
    readonly path: string
    readonly bytes: number
    readonly took: Duration.Duration
  }
): typeof Downloaded.Type => ({ type: "downloaded", ...file, seconds: seconds(took) ?? 0 })
