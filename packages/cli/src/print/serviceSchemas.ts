/** The lines of `--json` of commands that look after a service and its jobs. */
import { Proof } from "@stevedore/core/UploadedFile"
import { checkIds } from "@stevedore/node/Diagnosis"
import * as Schema from "effect/Schema"

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

/** A line of `bulk files --json`: a file of a job that is uploaded. */
export const JobFile = Schema.Struct({
  type: Schema.Literal("jobFile"),
  path: Schema.String,
  fileId: Schema.String,
  proof: Proof
}).annotations({ identifier: "JobFile" })

/** How far a job is: of `start`, `run` and `status --watch` once a second. */
export const Job = Schema.Struct({
  type: Schema.Literal("job"),
  name: Schema.String,
  state: Schema.Literal("loading", "running", "paused", "cancelled", "done"),
  /** In files, as the following. */
  total: Schema.Number,
  uploaded: Schema.Number,
  failed: Schema.Number,
  /** Those without an outcome, which were not tried or are under way. */
  left: Schema.Number,
  bytes: Schema.Struct({ total: Schema.Number, uploaded: Schema.Number }),
  /** How many chunks of it runners work on. */
  chunks: Schema.Number,
  calls: Schema.Struct({
    /** How many the rest takes. */
    left: Schema.Number,
    /** What the rate limit lets pass; null if there is none, or if nobody calls. */
    perMinute: Schema.NullOr(Schema.Number)
  }),
  /** In seconds; null until known. */
  timeLeft: Schema.NullOr(Schema.Number)
}).annotations({ identifier: "BulkJob" })

/** The names of the checks, in order. */
export const CheckId = Schema.Literal("configuration", ...checkIds).annotations({ identifier: "CheckId" })

/**
 * How a check ended. `warning`: it works, but may surprise later. `skipped`: it could not be tried, or was not
 * requested.
 */
export const CheckReport = Schema.Struct({
  type: Schema.Literal("check"),
  check: CheckId,
  title: Schema.String,
  outcome: Schema.Literal("passed", "warning", "failed", "skipped"),
  /** What was found. */
  found: Schema.String,
  /** What to do; empty if there is nothing to do. */
  remedy: Schema.String
}).annotations({ identifier: "CheckReport" })

export type CheckReport = typeof CheckReport.Type

/** The last line of `doctor --json`. */
export const Diagnosis = Schema.Struct({
  type: Schema.Literal("diagnosis"),
  passed: Schema.Int,
  warnings: Schema.Int,
  failed: Schema.Int,
  skipped: Schema.Int,
  /** What this run left behind at the service. */
  left: Schema.Array(Schema.Struct({
    fileId: Schema.String,
    /** `file` stays until it is deleted at the service; a `session` was never completed. */
    kind: Schema.Literal("file", "session"),
    bytes: Schema.Number
  }))
}).annotations({ identifier: "Diagnosis" })

export type Diagnosis = typeof Diagnosis.Type

/** What `doctor --write-profile` has found out, before the checks are run with it. */
export const ProfileReport = Schema.Struct({
  type: Schema.Literal("profile"),
  /** The fields of a profile file that differ from the profile that was given. */
  profile: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  /** What could not be found out: the field of the profile, and what belongs there. */
  questions: Schema.Array(Schema.String),
  /** What nothing that the service answers shows: the field of the profile, and what is assumed. */
  assumed: Schema.Array(Schema.String)
}).annotations({ identifier: "ProfileReport" })

export type ProfileReport = typeof ProfileReport.Type

/** A line of `doctor --json`. */
export const DoctorReport = Schema.Union(CheckReport, ProfileReport, Diagnosis).annotations({
  identifier: "DoctorReport"
})
