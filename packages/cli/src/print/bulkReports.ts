/** The lines of `bulk --json`. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Failed, failure, type KnownError } from "./reports.js"

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

/** How far a job is, in the terms of the package that runs it. */
export interface Standing {
  readonly state: (typeof Job.Type)["state"]
  readonly total: number
  readonly uploaded: number
  readonly failed: number
  readonly bytes: { readonly total: number; readonly uploaded: number }
  readonly chunks: number
  readonly calls: { readonly left: number; readonly perMinute: Option.Option<number> }
  readonly timeLeft: Option.Option<Duration.Duration>
}

/** The line of a job. */
export const job = (
  name: string,
  { bytes, calls, chunks, failed, state, timeLeft, total, uploaded }: Standing
): typeof Job.Type => ({
  type: "job",
  name,
  state,
  total,
  uploaded,
  failed,
  left: total - uploaded - failed,
  bytes,
  chunks,
  calls: { left: calls.left, perMinute: Option.getOrNull(calls.perMinute) },
  timeLeft: Option.getOrNull(Option.map(timeLeft, Duration.toSeconds))
})

/** The line of a file that failed, of `bulk failures`. */
export const failed = (path: string, error: KnownError): typeof Failed.Type => ({
  type: "failed",
  path,
  error: failure(error)
})
