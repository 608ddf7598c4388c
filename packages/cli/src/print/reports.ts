/** The lines of `--json`, from what they are about. */
import type { ErrorKind } from "@stevedore/core/ErrorKind"
import { FileRecord } from "@stevedore/core/FileRecord"
import type { ListError } from "@stevedore/core/ListError"
import type { UploadError } from "@stevedore/core/UploadError"
import type { UploadProgress } from "@stevedore/core/UploadProgress"
import type * as Uploads from "@stevedore/core/Uploads"
import type { UrlRefused } from "@stevedore/node/HttpSource"
import type { SpoolUnwritable } from "@stevedore/node/SpoolError"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { messageOf } from "./message.js"
import type * as Schemas from "./schemas.js"
import type { Job } from "./serviceSchemas.js"

const seconds = (duration: Duration.Duration): number | null =>
  Duration.isFinite(duration) ? Math.round(Duration.toMillis(duration)) / 1000 : null

/** The line for an unfinished upload. */
export const unfinished = (upload: Uploads.UnfinishedUpload, running: boolean): typeof Schemas.Unfinished.Type => ({
  type: "unfinished",
  ...upload,
  startedAt: upload.startedAt.toISOString(),
  running
})

/** The line for the progress of an upload. */
export const progress = (path: string, now: UploadProgress): typeof Schemas.Progress.Type => ({
  type: "progress",
  path,
  ...Struct.omit(now, "stalledSince", "timeLeftBetween"),
  speed: Option.getOrNull(Option.map(now.speed, Math.round)),
  timeLeft: Option.getOrNull(Option.map(now.timeLeft, seconds))
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
export const failure = (error: KnownError): typeof Schemas.Failure.Type => ({
  ...fieldsOf(error),
  _tag: error._tag,
  kind: error.kind,
  message: messageOf(error)
})

/** Why a file was not uploaded. */
export type FileError = UploadError | ListError | SpoolUnwritable | UrlRefused

/** What the lines about a file name: its path, or its id at the service. */
export type Name = { readonly path: string } | { readonly fileId: string }

/** The last line of what failed. */
export const failed = (name: Name, error: KnownError): typeof Schemas.Failed.Type => ({
  type: "failed",
  ...name,
  error: failure(error)
})

/** The line of what was not tried. */
export const notTried = (name: Name): typeof Schemas.NotTried.Type => ({ type: "notTried", ...name })

/** Why nothing was done with a file although nothing failed. */
export type SkipReason = (typeof Schemas.Skipped.Type)["reason"]

/** The line of a file with which nothing was done although nothing failed. */
export const skipped = (
  path: string,
  reason: SkipReason,
  fileId: Option.Option<string>,
  entryId?: string
): typeof Schemas.Skipped.Type => ({
  type: "skipped",
  path,
  reason,
  ...Option.match(fileId, { onNone: () => ({}), onSome: (fileId) => ({ fileId }) }),
  ...(entryId === undefined ? {} : { entryId })
})

/** The last line of an upload that succeeded, from its record and counts. */
export const completed = (
  path: string,
  { sent, ...file }: Uploads.UploadedFile,
  took: Duration.Duration
): typeof Schemas.Completed.Type => ({
  type: "completed",
  path,
  file,
  ...sent,
  seconds: seconds(took) ?? 0,
  checksum: sent.checksum ?? null
})

/** The line of a download. */
export const downloaded = (
  { took, ...file }: {
    readonly fileId: string
    readonly path: string
    readonly bytes: number
    readonly took: Duration.Duration
  }
): typeof Schemas.Downloaded.Type => ({ type: "downloaded", ...file, seconds: seconds(took) ?? 0 })

/** The line of a file that was moved. */
export type Done = typeof Schemas.Completed.Type | typeof Schemas.Downloaded.Type

const encodeRecord = Schema.encodeSync(FileRecord)

/** The line as it is printed: the record of the file with its fields where the service has them. */
export const encodeDone = (line: Done): typeof Schemas.Completed.Encoded | typeof Schemas.Downloaded.Encoded =>
  line.type === "completed" ? { ...line, file: encodeRecord(line.file) } : line

/** How far a job of `bulk` is, in the terms of the package that runs it. */
export type JobStatus = Omit<typeof Job.Type, "type" | "name" | "left" | "calls" | "timeLeft"> & {
  readonly calls: { readonly left: number; readonly perMinute: Option.Option<number> }
  readonly timeLeft: Option.Option<Duration.Duration>
}

/** The line of a job. */
export const job = (name: string, standing: JobStatus): typeof Job.Type => ({
  type: "job",
  name,
  ...standing,
  left: standing.total - standing.uploaded - standing.failed,
  calls: { ...standing.calls, perMinute: Option.getOrNull(standing.calls.perMinute) },
  timeLeft: Option.getOrNull(Option.map(standing.timeLeft, Duration.toSeconds))
})
