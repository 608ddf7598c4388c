/**
 * The lines of `--json` about many files: what was skipped, what is remembered, and what is said before and at the end.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { UploadedFile } from "./uploadedFile.js"

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
  fileId: Schema.optional(Schema.String)
}).annotations({ identifier: "Skipped" })

/** The last line of `upload --json`. */
export const Summary = Schema.Struct({
  type: Schema.Literal("summary"),
  /** All that were chosen. Each is uploaded, skipped, failed or not tried; `skipped` also counts what was no choice. */
  files: Schema.Number,
  uploaded: Schema.Number,
  /** Those of the uploaded files that continued an earlier upload. */
  resumed: Schema.Number,
  /** How many files were skipped, by reason. */
  skipped: Schema.Record({ key: Schema.String, value: Schema.Number }),
  failed: Schema.Number,
  /** Those that the command was stopped before, or in the middle of. */
  notTried: Schema.Number,
  /** By this command, without what an earlier one had sent. */
  bytesSent: Schema.Number,
  /** What an earlier command had sent of the uploaded files. */
  bytesResumed: Schema.Number,
  seconds: Schema.Number,
  /** Of what was sent, in bytes per second; null if no time passed. */
  speed: Schema.NullOr(Schema.Number),
  /** Each reason once. */
  failures: Schema.Array(Schema.Struct({
    _tag: Schema.String,
    message: Schema.String,
    paths: Schema.Array(Schema.String)
  }))
}).annotations({ identifier: "Summary" })

/**
 * A file that was chosen, and not tried, or not to its end, because the command was stopped. A download names its id.
 */
export const NotTried = Schema.Struct({
  type: Schema.Literal("notTried"),
  path: Schema.optional(Schema.String),
  fileId: Schema.optional(Schema.String)
}).annotations({ identifier: "NotTried" })

/** A line of `uploaded --json`. */
export const Uploaded = Schema.Struct({
  type: Schema.Literal("uploaded"),
  ...UploadedFile.fields
}).annotations({ identifier: "Uploaded" })

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

/** A line of `limit --json`: the bandwidth limit of a command that runs. */
export const Limited = Schema.Struct({
  type: Schema.Literal("limit"),
  pid: Schema.Number,
  /** `upload` or `download`. */
  command: Schema.String,
  /** As it was written, such as `20M` or `08:00,5M 18:00,off`. */
  limit: Schema.String,
  /** In force now, in bytes per second; null if there is no limit. */
  rate: Schema.NullOr(Schema.Number)
}).annotations({ identifier: "Limited" })

/** The line of a remembered file. */
export const uploaded = (file: UploadedFile): typeof Uploaded.Type => ({ type: "uploaded", ...file })

/** The line of a file that was not tried. */
export const notTried = (
  which: { readonly path: string } | { readonly fileId: string }
): typeof NotTried.Type => ({ type: "notTried", ...which })

/** The line of a file that was not uploaded although nothing failed. */
export const skipped = (
  path: string,
  reason: typeof Skipped.Type["reason"],
  fileId: Option.Option<string>
): typeof Skipped.Type => ({
  type: "skipped",
  path,
  reason,
  ...Option.match(fileId, { onNone: () => ({}), onSome: (fileId) => ({ fileId }) })
})
