/**
 * Uploads the files of chunks in this process. Which chunks is for a queue to say: the one of `@stevedore/bulk/Queue`, or
 * any that delivers a chunk at least once.
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import { Checksum } from "@stevedore/core/Checksum"
import { quoted } from "@stevedore/core/parts/text"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Uploads from "@stevedore/core/Uploads"
import type { UploadSource } from "@stevedore/core/UploadSource"
import * as NodeChecksum from "@stevedore/node/NodeChecksum"
import * as Cache from "effect/Cache"
import * as Cause from "effect/Cause"
import * as Chunks from "effect/Chunk"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Crashed, FileError } from "./BulkError.js"
import { BulkSources } from "./BulkSources.js"
import * as ChunkRows from "./jobs/chunkRows.js"
import type { Claim, FileRow, OutcomeRow } from "./jobs/chunkRows.js"
import { givenBack, patient } from "./jobs/statements.js"
import * as TraceContext from "./jobs/traceContext.js"
import * as FencedLedger from "./runner/fencedLedger.js"
import * as Halts from "./runner/halts.js"
import * as Turnstile from "./runner/turnstile.js"

/**
 * How a process uploads the files of its chunks.
 *
 * @category models
 */
export interface Options {
  /** How many files at once, over all jobs of this process, a file of each in turn, at least 1. Defaults to 16. */
  readonly files?: number | undefined
  /** The options of each upload. */
  readonly upload?: Omit<UploadOptions, "resume" | "unfinished"> | undefined
  /** About how many bytes the parts of a larger file have, as far as the service's limits allow. */
  readonly partSize?: number | undefined
  /** How often a chunk shows that its runner is alive. Defaults to 3 seconds. */
  readonly heartbeat?: Duration.DurationInput | undefined
  /**
   * Whether the database has the pre-signed URLs of a file in parts while it is uploaded. Each is the right to send one
   * part, for as long as the service says (three hours by its contract). Without them, nobody who reads the tables can
   * send anything, and a file in parts that was interrupted starts over. Defaults to true.
   */
  readonly keepUrls?: boolean | undefined
  /** The name of this process in the rows of its chunks, for people who look there. Defaults to a random one. */
  readonly name?: string | undefined
}

/**
 * A chunk of a job: some files with consecutive numbers. `pass` says which delivery of it is meant, so that an earlier
 * one that is still under way changes nothing; without it, any.
 *
 * @category models
 */
export interface Chunk {
  /** The number of the job. */
  readonly job: number
  readonly n: number
  readonly pass?: number | undefined
}

/**
 * How the delivery of a chunk ended:
 *
 * - `done`: each of its files has its outcome
 * - `released`: the job is paused or cancelled, or this process is draining, or does not go on with the job for now; the
 *   chunk waits for another delivery
 * - `refused`: there was nothing to do
 * - `lost`: another runner has claimed it meanwhile
 *
 * @category models
 */
export type ChunkEnd = "done" | "released" | "refused" | "lost"

/**
 * Why a runner does not go on with a job for now: what one file has met, each other file would. It has no outcome, and a
 * file tries again after 5 seconds, and then at growing intervals up to 5 minutes; with the first that gets through, all
 * go on. The reasons are those of `LastingFailure` of `@stevedore/node`, and `outage` where three files in a row reached
 * nobody.
 *
 * @category models
 */
export interface Halt {
  /** The name of the job. */
  readonly job: string
  readonly reason: "token" | "connection" | "room" | "directory" | "outage"
  /** What the last file has met. */
  readonly error: FileError
}

/**
 * A runner.
 *
 * @category models
 */
export interface Service {
  /** Uploads the files of a chunk that have no outcome. It does not fail: a file that cannot be uploaded has an outcome. */
  readonly runChunk: (chunk: Chunk) => Effect.Effect<ChunkEnd>
  /** Begins no further file, waits for those under way, and gives their chunks back. */
  readonly drain: Effect.Effect<void>
  readonly isDraining: Effect.Effect<boolean>
  /** The jobs that this process does not go on with for now. Others may. */
  readonly halted: Effect.Effect<ReadonlyArray<Halt>>
}

/**
 * The runner of this process.
 *
 * @category tags
 */
export class BulkRunner extends Context.Tag("@stevedore/bulk/BulkRunner")<BulkRunner, Service>() {}

/** A chunk that was claimed this often without being finished has perhaps ended its runners. */
const carefulFrom = 3

/** How often a file may end its process while nothing else runs in it. */
const mostAlone = 2

/** How many outcomes, and of how long, are one statement. */
const settled = { most: 50, within: Duration.millis(300) }

/** It is an error of its own class, and so can be encoded. */
const errorText: (error: FileError) => string = Schema.encodeSync(Schema.parseJson(FileError))

const ended = Metric.counter("stevedore_bulk_files", {
  description: "Files of bulk jobs that have an outcome, by job and outcome",
  incremental: true
})

const stored = Metric.counter("stevedore_bulk_bytes", {
  description: "Bytes of the files of bulk jobs that were uploaded, by job",
  incremental: true
})

const held = Metric.gauge("stevedore_bulk_chunks", {
  description: "Chunks of bulk jobs that this process works on, by job"
})

interface State {
  readonly rows: ChunkRows.ChunkRows
  readonly turnstile: Turnstile.Turnstile
  readonly jobState: (job: number) => Effect.Effect<string>
  readonly isDraining: () => boolean
  readonly drained: Effect.Effect<void>
  readonly halts: Halts.Halts
  readonly options: Options
}

interface Outcome extends Halts.Ended {
  readonly row: OutcomeRow
  /** In bytes, if the file was uploaded. */
  readonly size: number
  readonly tag: string
}

const failedWith = (seq: number, kept: 0 | 1, error: FileError): Outcome => ({
  row: { seq, state: 2, file_id: null, proof: null, checksum: null, error: errorText(error), kept },
  size: 0,
  tag: error._tag,
  error: Option.some(error)
})

const isSame = Schema.equivalence(UploadLedger.UploadRecord.fields.fingerprint)

/** A file whose type the manifest does not say keeps the one it was begun with: two machines may be told two. */
const asBegun = ({ mediaType, record }: FileRow, source: UploadSource): UploadSource =>
  mediaType !== null ? source : Option.fromNullable(record).pipe(
    Option.flatMap(FencedLedger.decodeRecord),
    Option.filter(({ fingerprint }) => isSame(fingerprint, source.fingerprint)),
    Option.match({
      onNone: () => source,
      onSome: ({ mediaType }) => ({ ...source, mediaType })
    })
  )

const checksumText = Schema.encodeSync(Schema.parseJson(Checksum))

const decodeChecksum = Schema.decodeOption(Schema.parseJson(Checksum))

/** What a file was uploaded as before, if its content is still the same. */
const asBefore = ({ checksum, fileId, proof }: FileRow, source: UploadSource) =>
  Effect.gen(function*() {
    const known = decodeChecksum(checksum ?? "")
    return Option.isSome(known) && fileId !== null && source._tag === "RepeatableSource" &&
        (yield* NodeChecksum.isOf(known.value, source))
      ? { file_id: fileId, proof, checksum }
      : undefined
  })

const uploaded = (
  { options }: State,
  claim: Claim,
  file: FileRow,
  ledger: FencedLedger.FileLedger
): Effect.Effect<Outcome, never, BulkSources | Uploads.Requirements> =>
  Effect.gen(function*() {
    const sources = yield* BulkSources
    const { profile: { limits } } = yield* ServiceApi
    const { mediaType, path, seq, size } = file
    const { location, name: job, queue } = claim
    return yield* sources.open({ job, queue, location, path, mediaType: mediaType ?? undefined }).pipe(
      Effect.flatMap((source) =>
        Effect.gen(function*() {
          const before = yield* asBefore(file, source)
          if (before !== undefined) return { ...before, moved: 0 }
          const parts = UploadPlan.partsOfSize(source.size, options.partSize, limits) ?? options.upload?.parts
          const { id, sent } = yield* Uploads.upload(asBegun(file, source), { ...options.upload, parts, resume: true })
          const { checksum, proof } = sent
          return { file_id: id, proof, checksum: checksum === undefined ? null : checksumText(checksum), moved: size }
        })
      ),
      Effect.provideService(UploadLedger.UploadLedger, ledger.service),
      // one file's defect is its own failure
      Effect.catchAllDefect((defect) =>
        Effect.zipRight(
          Effect.logError(`The upload of ${quoted(path)} died of a defect`, Cause.die(defect)),
          new Crashed({ fileName: path, what: "defect", attempts: 1 })
        )
      ),
      Effect.match({
        onFailure: (error) => failedWith(seq, ledger.isForgotten() ? 0 : 1, error),
        onSuccess: ({ moved, ...row }): Outcome => ({
          row: { seq, state: 1, ...row, error: null, kept: 0 },
          size: moved,
          tag: "Uploaded",
          error: Option.none()
        })
      })
    )
  })

/**
 * A file of a chunk that has perhaps ended its runners: counted before it begins, and nothing else runs meanwhile. A
 * runner that is stopped takes that back: the file has ended nothing.
 */
const alone = (
  state: State,
  claim: Claim,
  file: FileRow,
  ledger: FencedLedger.FileLedger
): Effect.Effect<Outcome, never, BulkSources | Uploads.Requirements> =>
  file.attempts >= mostAlone
    ? Effect.succeed(
      failedWith(file.seq, 1, new Crashed({ fileName: file.path, what: "process", attempts: file.attempts }))
    )
    : Effect.suspend(() => {
      let isCounted = false
      const count = Effect.uninterruptible(
        Effect.tap(state.rows.countAlone(claim, file.seq, 1), () => Effect.sync(() => isCounted = true))
      )
      return Effect.onInterrupt(
        Effect.zipRight(patient("count tries", count), uploaded(state, claim, file, ledger)),
        () => isCounted ? givenBack(state.rows.countAlone(claim, file.seq, -1)) : Effect.void
      )
    })

/** The outcome of a file; none if the job is not to go on, or not here. */
const outcomeOf = (
  state: State,
  claim: Claim,
  ledger: FencedLedger.ChunkLedger,
  isCareful: boolean,
  directory: string | undefined
) =>
(file: FileRow): Effect.Effect<Option.Option<Outcome>, never, BulkSources | Uploads.Requirements> =>
  Effect.flatMap(state.jobState(claim.job), (job) =>
    state.isDraining() || job !== "running"
      ? Effect.succeedNone
      : (isCareful ? alone : uploaded)(state, claim, file, ledger.of(file.seq)).pipe(
        state.halts.through({ job: { id: claim.job, name: claim.name }, seq: file.seq, directory })
      )).pipe(
      (isCareful ? state.turnstile.alone : state.turnstile.one)(claim.job)
    )

const counted = (job: string) => ({ size, tag }: Outcome): Effect.Effect<void> =>
  Effect.zipRight(
    Metric.increment(Metric.tagged(Metric.tagged(ended, "job", job), "outcome", tag)),
    Metric.incrementBy(Metric.tagged(stored, "job", job), size)
  )

const work = (state: State, claim: Claim, lost: Deferred.Deferred<void>) =>
  Effect.gen(function*() {
    const { rows } = state
    const isCareful = claim.tries >= carefulFrom
    if (isCareful) {
      yield* Effect.logWarning(
        `Chunk ${claim.n} of ${quoted(claim.name)} was claimed ${claim.tries} times: its files go one at a time`
      )
    }
    const told = (held: boolean) => held ? Effect.void : Effect.asVoid(Deferred.succeed(lost, undefined))
    const heartbeat = Duration.decode(state.options.heartbeat ?? "3 seconds")
    // Within two heartbeats, nobody takes it over; whoever stood still for longer asks before it goes on
    const [isHeld, invalidate] = yield* Effect.cachedInvalidateWithTTL(
      Effect.tap(patient("take signs of life", rows.see(claim)), told),
      Duration.times(heartbeat, 2)
    )
    yield* Effect.forkScoped(Effect.schedule(Effect.zipRight(invalidate, isHeld), Schedule.spaced(heartbeat)))
    const ledger = yield* FencedLedger.make({
      rows,
      fence: claim,
      isHeld,
      lost,
      keepUrls: state.options.keepUrls ?? true
    })
    const settle = (outcomes: ReadonlyArray<Outcome>) =>
      patient("take outcomes", rows.settle(claim, outcomes.map(({ row }) => row))).pipe(
        Effect.tap(() => Effect.forEach(outcomes, counted(claim.name), { discard: true })),
        Effect.flatMap(told)
      )
    const directory = (yield* BulkSources).directory(claim)
    yield* Stream.fromIterable(yield* patient("answer", rows.files(claim))).pipe(
      Stream.mapEffect(outcomeOf(state, claim, ledger, isCareful, directory), {
        concurrency: isCareful ? 1 : state.options.files ?? mostFiles,
        unordered: true
      }),
      Stream.filterMap((outcome) => outcome),
      (outcomes) =>
        isCareful ? Stream.map(outcomes, Chunks.of) : Stream.groupedWithin(outcomes, settled.most, settled.within),
      Stream.runForEach((outcomes) => settle(Chunks.toReadonlyArray(outcomes)))
    )
  })

const runClaimed = (
  state: State,
  claim: Claim
): Effect.Effect<ChunkEnd, never, BulkSources | Uploads.Requirements> =>
  Effect.gen(function*() {
    const lost = yield* Deferred.make<void>()
    const isWorked = yield* Effect.raceFirst(
      Effect.as(Effect.scoped(work(state, claim, lost)), true),
      Effect.as(Deferred.await(lost), false)
    ).pipe(Effect.onInterrupt(() => givenBack(state.rows.release(claim))))
    if (!isWorked || (yield* Deferred.isDone(lost))) {
      yield* Effect.logInfo(`Chunk ${claim.n} of ${quoted(claim.name)} was taken over by another runner`)
      return "lost"
    }
    const end = yield* patient("end chunks", state.rows.release(claim))
    return end ?? "lost"
  })

/** A job outlives any process, and has too many files for one trace: each chunk is a trace that names the submit's. */
const linked = ({ name, trace }: Claim) =>
  Effect.zipRight(
    Effect.annotateCurrentSpan("job.name", name),
    Option.match(TraceContext.decode(trace), {
      onNone: () => Effect.void,
      onSome: (submit) => Effect.linkSpanCurrent(submit)
    })
  )

/** A chunk that is not begun waits for another delivery, if this one is the one that counts. */
const refused = (rows: ChunkRows.ChunkRows, { job, n, pass }: Chunk): Effect.Effect<ChunkEnd> =>
  Effect.as(
    pass === undefined ? Effect.void : rows.refuse({ job, n, pass }),
    "refused"
  )

const runChunk = (
  state: State,
  runner: string
) =>
({ job, n, pass }: Chunk): Effect.Effect<ChunkEnd, never, BulkSources | Uploads.Requirements> =>
  Effect.gen(function*() {
    if (!(yield* state.halts.goesOn(job, state.drained))) {
      return yield* Effect.as(refused(state.rows, { job, n, pass }), "released" as const)
    }
    const claim = yield* patient("give chunks", state.rows.claim({ job, n, pass }, runner))
    if (claim !== undefined) {
      const chunks = Metric.tagged(held, "job", claim.name)
      yield* linked(claim)
      return yield* Effect.acquireUseRelease(
        Metric.increment(chunks),
        () => runClaimed(state, claim),
        () => Metric.incrementBy(chunks, -1)
      )
    }
    return yield* refused(state.rows, { job, n, pass })
  }).pipe(Effect.withSpan("Bulk.runChunk", { captureStackTrace: false, attributes: { job, n } }))

const mostFiles = 16

/**
 * The runner of this process, which uses what its own environment has: the service, storage, retry policy and timeouts.
 * The ledger of that environment is not used, because the database takes its place.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<Service, never, SqlClient | BulkSources | Uploads.Requirements> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<BulkSources | Uploads.Requirements>()
    const rows = yield* ChunkRows.make
    const turnstile = yield* Turnstile.make(options.files ?? mostFiles)
    const states = yield* Cache.make({
      capacity: 256,
      timeToLive: "1 second",
      lookup: (job: number) => patient("answer", rows.stateOf(job))
    })
    const halts = yield* Halts.make
    const drained = yield* Deferred.make<void>()
    const runner = options.name ?? (yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)
    let draining = false
    let running = 0
    const state: State = {
      rows,
      turnstile,
      options,
      jobState: (job) => states.get(job),
      isDraining: () => draining,
      drained: Deferred.await(drained),
      halts
    }
    const run = runChunk(state, runner)
    return {
      runChunk: (chunk) =>
        Effect.suspend(() => {
          if (draining) return refused(rows, chunk)
          running += 1
          return Effect.ensuring(run(chunk), Effect.sync(() => running -= 1))
        }).pipe(Effect.provide(context)),
      drain: Effect.suspend(() => {
        draining = true
        Deferred.unsafeDone(drained, Effect.void)
        // also within a finalizer, where a time limit could not end it otherwise
        return Effect.interruptible(Effect.repeat(Effect.sleep("20 millis"), { until: () => running === 0 }))
      }).pipe(Effect.asVoid),
      isDraining: Effect.sync(() => draining),
      halted: halts.halted
    }
  })

/**
 * The runner of this process, as a layer.
 *
 * @category layers
 */
export const layer = (
  options: Options = {}
): Layer.Layer<BulkRunner, never, SqlClient | BulkSources | Uploads.Requirements> =>
  Layer.effect(BulkRunner, make(options))
