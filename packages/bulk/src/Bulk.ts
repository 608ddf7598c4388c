/** Jobs of many files: submitted once, uploaded by any number of processes, each file exactly once, whatever dies. */
import type * as Migrator from "@effect/sql/Migrator"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Proof } from "@stevedore/core/UploadedFile"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { FileError, JobDiffers, JobNotFinished, JobNotFound } from "./BulkError.js"
import { migrate } from "./BulkMigrations.js"
import * as BulkRunner from "./BulkRunner.js"
import type { Entry, Manifest } from "./BulkSources.js"
import * as JobRows from "./jobs/jobRows.js"
import * as TraceContext from "./jobs/traceContext.js"

/**
 * What a job does: it is being loaded, its files are uploaded, it waits for `resume`, it was given up, or each of its
 * files has an outcome.
 *
 * @category models
 */
export const JobState = Schema.Literal("loading", "running", "paused", "cancelled", "done")

/**
 * What a job does.
 *
 * @category models
 */
export type JobState = typeof JobState.Type

/**
 * How far a job is.
 *
 * @category models
 */
export const Progress = Schema.Struct({
  state: JobState,
  /** In files, as the following. */
  total: Schema.NonNegativeInt,
  uploaded: Schema.NonNegativeInt,
  failed: Schema.NonNegativeInt,
  bytes: Schema.Struct({ total: Schema.Number, uploaded: Schema.Number }),
  /** How many chunks of it a runner works on. */
  chunks: Schema.NonNegativeInt,
  calls: Schema.Struct({
    /** How many calls of the service the rest takes, at two a file. */
    left: Schema.NonNegativeInt,
    /** How many the shared rate limit lets pass in a minute; none if there is none, or if nobody calls. */
    perMinute: Schema.Option(Schema.Number)
  }),
  /**
   * How long the rest takes at the pace so far, and at least as long as the rate limit of the token makes it, at two
   * calls a file. None before the first file.
   */
  timeLeft: Schema.Option(Schema.Duration)
}).annotations({ identifier: "BulkProgress" })

/**
 * How far a job is.
 *
 * @category models
 */
export interface Progress extends Schema.Schema.Type<typeof Progress> {}

/**
 * A file that was not uploaded.
 *
 * @category models
 */
export const Failure = Schema.Struct({
  path: Schema.String,
  error: FileError
}).annotations({ identifier: "BulkFailure" })

/**
 * A file that was not uploaded.
 *
 * @category models
 */
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

/**
 * How a job ended, in files. Those of a cancelled job that have no outcome count as cancelled.
 *
 * @category models
 */
export interface Totals {
  readonly uploaded: number
  readonly failed: number
  readonly cancelled: number
}

/**
 * A job. Any process with the database can watch and steer it.
 *
 * @category models
 */
export interface Job {
  readonly name: string
  /** Its number, with which its chunks are named. */
  readonly id: number
  /** How many chunks it has, numbered from 0. */
  readonly chunks: number
  /** How far it is now. */
  readonly status: Effect.Effect<Progress, SqlError | JobNotFound>
  /** How far it is, every second, to its end. */
  readonly progress: Stream.Stream<Progress, SqlError | JobNotFound>
  /**
   * The files that have failed so far, in the order of the manifest. Fails with a `ParseError` at one whose error a later
   * version of this package has written.
   */
  readonly failures: Stream.Stream<Failure, SqlError | ParseError>
  /** The files that are there so far, with the ids that the service gave them, and how the content of each was proven. */
  readonly files: Stream.Stream<{ readonly path: string; readonly fileId: string; readonly proof: Proof }, SqlError>
  /** Waits for its end. */
  readonly await: Effect.Effect<Totals, SqlError | JobNotFound>
  /** Begins no further file, within about a second, until `resume`. What is under way goes on. */
  readonly pause: Effect.Effect<void, SqlError>
  readonly resume: Effect.Effect<void, SqlError>
  /** Begins no further file, for ever. What is under way goes on. */
  readonly cancel: Effect.Effect<void, SqlError>
  /** Lets the files that have failed wait again. A file of which it is unknown whether it is there is looked up first. */
  readonly retryFailed: Effect.Effect<void, SqlError>
  /** Deletes all rows of a job that is done or cancelled. */
  readonly forget: Effect.Effect<void, SqlError | JobNotFound | JobNotFinished>
}

/**
 * How a job is divided.
 *
 * @category models
 */
export interface SubmitOptions {
  /** How many files a runner takes at a time, at least 1. Defaults to 100; take fewer if each takes minutes. */
  readonly chunkSize?: number | undefined
}

export type {
  /**
   * What a runner works on at this moment: a chunk of a job, with what has come of its files. One that is silent for longer than
   * its lease is taken for dead, and its chunk is given to another.
   *
   * @category models
   */
  Working
} from "./jobs/jobRows.js"

/**
 * All that can be done with jobs.
 *
 * @category models
 */
export interface Service {
  readonly submit: <E, R>(
    name: string,
    manifest: Manifest<E, R>,
    options?: SubmitOptions
  ) => Effect.Effect<Job, SqlError | JobNotFound | JobDiffers | E, R>
  readonly get: (name: string) => Effect.Effect<Job, SqlError | JobNotFound>
  /** The names of all jobs, in the order in which they were submitted. */
  readonly names: Effect.Effect<ReadonlyArray<string>, SqlError>
  /** What runners work on, by their names. One that waits for work is not there. */
  readonly working: Effect.Effect<ReadonlyArray<JobRows.Working>, SqlError>
}

/**
 * The jobs of a database.
 *
 * @category tags
 */
export class Bulk extends Context.Tag("@stevedore/bulk/Bulk")<Bulk, Service>() {}

const isOver = ({ chunks, state }: Progress): boolean => state === "done" || (state === "cancelled" && chunks === 0)

/** Two calls for each file, as a small file has: initiate and Complete. */
const callsOfFile = 2

const timeLeft = (
  { elapsed }: JobRows.JobRow,
  ended: number,
  left: number,
  pace: number | null
): Option.Option<Duration.Duration> =>
  elapsed === null || ended === 0
    ? Option.none()
    : Option.some(Duration.millis(Math.round(Math.max(elapsed / ended, pace === null ? 0 : callsOfFile / pace) * left)))

const progressOf = (rows: JobRows.JobRows, name: string): Effect.Effect<Progress, SqlError | JobNotFound> =>
  Effect.gen(function*() {
    const job = yield* rows.find(name)
    if (job === undefined) return yield* new JobNotFound({ job: name })
    const { bytes, failed, held, pace, uploaded } = yield* rows.sums(job.id)
    const left = job.total - uploaded - failed
    return {
      state: job.state,
      total: job.total,
      uploaded,
      failed,
      bytes: { total: job.bytes, uploaded: bytes },
      chunks: held,
      calls: {
        left: callsOfFile * left,
        perMinute: Option.map(Option.fromNullable(pace), (pace) => Math.round(pace * 60_000))
      },
      timeLeft: timeLeft(job, uploaded + failed, left, pace)
    }
  })

const decodeError = Schema.decode(Schema.parseJson(FileError))

/** All rows of a statement that gives them after a number, a page at a time. */
const paged = <A extends { readonly seq: number }>(
  page: (after: number) => Effect.Effect<ReadonlyArray<A>, SqlError>
): Stream.Stream<A, SqlError> =>
  Stream.paginateChunkEffect(-1, (after) =>
    Effect.map(page(after), (rows) => [
      Chunk.fromIterable(rows),
      Option.map(Option.fromNullable(rows.at(-1)), ({ seq }) => seq)
    ]))

const jobOf = (rows: JobRows.JobRows, { chunks, id, name }: JobRows.JobRow): Job => {
  const status = progressOf(rows, name)
  const progress = Stream.repeatEffectWithSchedule(status, Schedule.spaced("1 second")).pipe(
    Stream.takeUntil(isOver)
  )
  return {
    name,
    id,
    chunks,
    status,
    progress,
    failures: paged((after) => rows.failures(id, after)).pipe(
      Stream.mapEffect(({ error, path }) => Effect.map(decodeError(error ?? ""), (error): Failure => ({ path, error })))
    ),
    files: Stream.map(paged((after) => rows.files(id, after)), ({ seq: _, ...file }) => file),
    await: Effect.repeat(status, { until: isOver, schedule: Schedule.spaced("200 millis") }).pipe(
      Effect.zipRight(status),
      Effect.map(({ failed, total, uploaded }) => ({ uploaded, failed, cancelled: total - uploaded - failed }))
    ),
    pause: Effect.asVoid(rows.change(id, ["running"], "paused")),
    resume: Effect.asVoid(rows.change(id, ["paused"], "running")),
    cancel: Effect.asVoid(rows.change(id, ["loading", "running", "paused"], "cancelled")),
    retryFailed: rows.retry(id),
    forget: Effect.gen(function*() {
      const job = yield* rows.find(name)
      if (job === undefined) return yield* new JobNotFound({ job: name })
      if (job.state !== "done" && job.state !== "cancelled") {
        return yield* new JobNotFinished({ job: name, state: job.state })
      }
      yield* rows.forget(id)
    })
  }
}

/** Few enough statements for a million files, and little memory for each. */
const loadedAtOnce = 5000

/** The next rows are read and written as JSON while the database takes those before. */
const loadingAtOnce = 2

const usualChunk = 100

const rowOf = ({ changed, mediaType, modified, path, size }: Entry) => ({
  path,
  size,
  media_type: mediaType ?? null,
  modified: modified ?? null,
  changed: changed ?? null
})

const load = <E, R>(
  rows: JobRows.JobRows,
  { epoch, id }: { readonly id: number; readonly epoch: number },
  entries: Stream.Stream<Entry, E, R>,
  chunkSize: number
): Effect.Effect<void, SqlError | E, R> =>
  Effect.gen(function*() {
    let total = 0
    let bytes = 0
    // what an earlier loading has left
    yield* rows.clear(id, epoch)
    const isWhole = yield* entries.pipe(
      Stream.grouped(loadedAtOnce),
      Stream.map(Chunk.map((entry) => {
        bytes += entry.size
        return { seq: total++, ...rowOf(entry) }
      })),
      Stream.mapEffect((group) => rows.load(id, epoch, Chunk.toReadonlyArray(group)), { concurrency: loadingAtOnce }),
      Stream.takeUntil((held) => !held),
      Stream.runFold(true, (all, held) => all && held)
    )
    // another process loads it meanwhile
    if (isWhole) yield* rows.finishLoading(id, epoch, { total, bytes, chunks: Math.ceil(total / chunkSize) })
  })

/** So many are compared at once: each comparison reads all rows of the job. */
const comparedAtOnce = 50_000

const placeOf = ({ location, queue }: Pick<JobRows.JobRow, "queue" | "location">): string => `${location} (${queue})`

/** What a job that is loaded does not have yet, it gets: whatever was submitted has its outcome in the job. */
const compared = <E, R>(
  rows: JobRows.JobRows,
  known: JobRows.JobRow,
  given: Pick<JobRows.JobRow, "queue" | "location">,
  entries: Stream.Stream<Entry, E, R>
): Effect.Effect<void, SqlError | JobNotFound | JobDiffers | E, R> =>
  Effect.gen(function*() {
    const { id, name, state } = known
    if (known.queue !== given.queue || known.location !== given.location) {
      const problem = `its files are in ${placeOf(known)}, not in ${placeOf(given)}`
      return yield* new JobDiffers({ job: name, state, problem })
    }
    const added = (entries: ReadonlyArray<Entry>): Effect.Effect<void, SqlError | JobNotFound | JobDiffers> =>
      Effect.gen(function*() {
        const missing = new Set(
          yield* rows.unknown(id, entries.map(rowOf))
        )
        const more = entries.filter(({ path }) => missing.delete(path))
        if (more.length === 0) return
        const now = yield* rows.find(name)
        if (now === undefined) return yield* new JobNotFound({ job: name })
        if (now.state === "cancelled") {
          const problem = `it does not have ${more.length} of the files, such as ${more[0]?.path ?? ""}`
          return yield* new JobDiffers({ job: name, state: now.state, problem })
        }
        const fields = more.map(rowOf)
        // somebody else may have added the same
        if (!(yield* rows.add(id, now.total, fields))) yield* Effect.delay(added(more), "200 millis")
      })
    yield* Stream.runForEach(Stream.grouped(entries, comparedAtOnce), (group) => added(Chunk.toReadonlyArray(group)))
  })

const make: Effect.Effect<Service, never, SqlClient> = Effect.map(JobRows.make, (rows) => {
  const get = (name: string) =>
    Effect.flatMap(
      rows.find(name),
      (job) => job === undefined ? Effect.fail(new JobNotFound({ job: name })) : Effect.succeed(job)
    )
  return {
    submit: (name, manifest, options) =>
      Effect.gen(function*() {
        const chunkSize = Math.max(1, Math.floor(options?.chunkSize ?? usualChunk))
        yield* manifest.prepare(name)
        const place = { queue: manifest.queue(name), location: manifest.location }
        const loading = yield* rows.beginLoading({
          name,
          ...place,
          chunkSize,
          trace: yield* TraceContext.current
        })
        if (loading !== undefined) yield* load(rows, loading, manifest.entries, chunkSize)
        yield* Effect.repeat(get(name), {
          until: ({ state }) => state !== "loading",
          schedule: Schedule.spaced("200 millis")
        })
        if (loading === undefined) yield* compared(rows, yield* get(name), place, manifest.entries)
        return jobOf(rows, yield* get(name))
      }).pipe(Effect.withSpan("Bulk.submit", { captureStackTrace: false, attributes: { job: name } })),
    get: (name) => Effect.map(get(name), (job) => jobOf(rows, job)),
    names: Effect.map(rows.all, (jobs) => jobs.map(({ name }) => name)),
    working: rows.working
  }
})

/**
 * Submits, watches and steers jobs without uploading anything: for a process that is no runner. Makes the tables that are
 * missing.
 *
 * @category layers
 */
export const layerClient: Layer.Layer<Bulk, Migrator.MigrationError | SqlError, SqlClient> = Layer.effect(
  Bulk,
  Effect.zipRight(migrate, make)
)

/**
 * Submits a job. Submitting again, as after a crash, goes on with the job of this name: files of the manifest that it does
 * not have, or has with another size, are added to it, also after its end. `JobDiffers` if it is of another place, or was
 * cancelled without them. If its loading did not come to its end, it is loaded again.
 *
 * @category programs
 */
export const submit = <E, R>(
  name: string,
  manifest: Manifest<E, R>,
  options?: SubmitOptions
): Effect.Effect<Job, SqlError | JobNotFound | JobDiffers | E, R | Bulk> =>
  Effect.flatMap(Bulk, (bulk) => bulk.submit(name, manifest, options))

/**
 * The job of this name, or `JobNotFound`.
 *
 * @category programs
 */
export const get = (name: string): Effect.Effect<Job, SqlError | JobNotFound, Bulk> =>
  Effect.flatMap(Bulk, (bulk) => bulk.get(name))

/**
 * The names of all jobs.
 *
 * @category programs
 */
export const names: Effect.Effect<ReadonlyArray<string>, SqlError, Bulk> = Effect.flatMap(Bulk, ({ names }) => names)

/**
 * What runners work on at this moment.
 *
 * @category programs
 */
export const working: Effect.Effect<ReadonlyArray<JobRows.Working>, SqlError, Bulk> = Effect.flatMap(
  Bulk,
  ({ working }) => working
)

/**
 * Uploads the files of a chunk, for a queue of your own that delivers each chunk of a job at least once: its numbers are
 * 0 to `job.chunks`, exclusive. Delivered twice, also at once, it uploads no file twice. A chunk that ends as `released`
 * or `lost` has to be delivered again.
 *
 * @category programs
 */
export const runChunk = (job: number, n: number): Effect.Effect<BulkRunner.ChunkEnd, never, BulkRunner.BulkRunner> =>
  Effect.flatMap(BulkRunner.BulkRunner, (runner) => runner.runChunk({ job, n }))

export {
  /**
   * Creates the tables, or brings them up to date. A runner does so itself when it starts.
   *
   * @category programs
   */
  migrate
} from "./BulkMigrations.js"
