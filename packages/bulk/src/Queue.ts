/**
 * Runs jobs by a queue in their own database: `SqlPersistedQueue` of `@effect/sql` in PostgreSQL, for any number of
 * machines. In SQLite, which is for one process, the queue is in memory, and the jobs are in the file.
 */
import * as PersistedQueue from "@effect/experimental/PersistedQueue"
import type * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as SqlPersistedQueue from "@effect/sql/SqlPersistedQueue"
import type * as Uploads from "@stevedore/core/Uploads"
import { isPostgres } from "@stevedore/server/SqlDatabase"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Bulk from "./Bulk.js"
import * as BulkRunner from "./BulkRunner.js"
import { BulkSources } from "./BulkSources.js"
import * as Feeder from "./jobs/feeder.js"
import * as JobRows from "./jobs/jobRows.js"
import { patient, queueOf, queueTable } from "./jobs/statements.js"

/**
 * How this process takes part.
 *
 * @category models
 */
export interface Options extends Omit<BulkRunner.Options, "heartbeat"> {
  /**
   * How long a runner may be silent before another one takes over its chunks, at least 3 seconds. Defaults to 10
   * seconds. All runners of a database must have the same.
   */
  readonly lease?: Duration.DurationInput | undefined
  /** How long the files that are under way may still take when this process is asked to end. Defaults to 5 seconds. */
  readonly drain?: Duration.DurationInput | undefined
  /** How many chunks of each job are in the queue at most. Defaults to 16; more than all runners take at once. */
  readonly window?: number | undefined
}

/** Another runner has claimed the chunk: it is delivered again, in case that one does not finish it. */
class ChunkLost extends Data.TaggedError("ChunkLost") {}

const Element = Schema.Struct({ job: Schema.Int, n: Schema.Int, pass: Schema.Int })

/** One chunk is at its end while the next begins. The queue in memory cannot be waited for twice. */
const chunksAtOnce = (sql: SqlClient.SqlClient): number => isPostgres(sql) ? 2 : 1

/** A chunk is never given up: what is wrong with a file is the file's outcome. */
const maxAttempts = 1_000_000

const usualLease = Duration.seconds(10)

/** Three signs of life fit into a lease. */
const heartbeatOf = (lease: Duration.Duration): Duration.Duration => Duration.times(lease, 0.3)

/**
 * How many chunks of silent runners a process takes at once, beside its own. The queue gives them to a taker that is
 * free, and of a process that is busy none is until the end of a chunk.
 */
const takenOverAtOnce = 2

/** How many leases a chunk may be silent before it is fed again, in case the queue has lost it. */
const silentLeases = 10

const storeOf = (sql: SqlClient.SqlClient, lease: Duration.Duration) =>
  isPostgres(sql)
    ? SqlPersistedQueue.layerStore({
      tableName: queueTable,
      pollInterval: "300 millis",
      lockExpiration: lease
    })
    : PersistedQueue.layerStoreMemory

const running = (options: Options) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* JobRows.make
    const factory = yield* PersistedQueue.PersistedQueueFactory
    const runner = yield* BulkRunner.BulkRunner
    const sources = yield* BulkSources
    const lease = Duration.decode(options.lease ?? usualLease)
    const queueFor = (job: number) => factory.make({ name: queueOf(job), schema: Element })

    // SQLite is for one process: whatever was fed, nobody works on it any more
    if (!isPostgres(sql)) yield* rows.feedAllAgain

    const takers = yield* FiberMap.make<string>()
    const busy = new Set<string>()

    /**
     * A chunk may take longer than the lease, and `SqlPersistedQueue` never renews the lock of what it has given to
     * somebody: without this, whoever is slow would be taken for dead, and its files for what has killed it.
     */
    const work = (chunk: BulkRunner.Chunk, id: string) =>
      (isPostgres(sql)
        ? patient("renew leases", rows.renew(id)).pipe(
          Effect.schedule(Schedule.spaced(heartbeatOf(lease))),
          Effect.forkScoped
        )
        : Effect.void).pipe(
          Effect.zipRight(runner.runChunk(chunk)),
          Effect.scoped
        )

    const take = (job: number, key: string) =>
      Effect.gen(function*() {
        const queue = yield* queueFor(job)
        yield* queue.take((chunk, { id }) =>
          Effect.flatMap(runner.isDraining, (isDraining) =>
            // not begun, and so not done: the queue gives it to another one
            isDraining ? Effect.never : Effect.acquireUseRelease(
              Effect.sync(() => busy.add(key)),
              () => work(chunk, id),
              () => Effect.sync(() => busy.delete(key))
            ).pipe(
              // nobody else may have it: it is delivered again, when whoever has claimed it had time to end
              Effect.flatMap((end) => end === "lost" ? Effect.delay(new ChunkLost(), lease) : Effect.void)
            )), { maxAttempts })
      }).pipe(
        Effect.catchTag("ChunkLost", () => Effect.void),
        (one) => Effect.forever(Effect.tap(Feeder.steady("take chunks", one), () => Effect.yieldNow()))
      )

    /** Waits for chunks of these jobs, each of which has its own queue, and no more for those of any other. */
    const takeFrom = (jobs: ReadonlyArray<JobRows.RunningRow>) => {
      // The first taker of a queue begins alone. The store has an RcMap of queues, which makes two of one that two ask for
      // at the same time, and ends only one of them with its scope (effect 3.22.4): the other would keep the process up.
      const slotsOf = (id: number) => FiberMap.unsafeHas(takers, `${id}/0`) ? chunksAtOnce(sql) : 1
      const wanted = new Map<string, number>(
        jobs.flatMap(({ id }) => Array.from({ length: slotsOf(id) }, (_, slot) => [`${id}/${slot}`, id] as const))
      )
      const idle = Array.from(takers, ([key]) => key).filter((key) => !wanted.has(key) && !busy.has(key))
      return Effect.zipRight(
        Effect.forEach(idle, (key) => FiberMap.remove(takers, key), { discard: true }),
        Effect.forEach(wanted, ([key, job]) => FiberMap.run(takers, key, take(job, key), { onlyIfMissing: true }), {
          discard: true
        })
      )
    }

    const takeOver = Effect.gen(function*() {
      const silentMillis = Duration.toMillis(lease)
      const chunk = yield* patient("give chunks", rows.takeSilent(yield* sources.queues, silentMillis))
      if (chunk !== undefined) yield* runner.runChunk(chunk)
    }).pipe(
      (one) => Feeder.steady("take chunks over", one),
      Effect.repeat(Schedule.spaced("500 millis"))
    )
    if (isPostgres(sql)) yield* Effect.replicateEffect(Effect.forkScoped(takeOver), takenOverAtOnce)

    yield* Effect.forkScoped(Feeder.feeding({
      rows,
      sources,
      window: options.window,
      silence: Duration.times(lease, silentLeases),
      serve: takeFrom,
      // the name makes an offer repeatable: a process that dies before it is written down leaves nothing undone
      offer: (job, chunk) =>
        Effect.flatMap(queueFor(job.id), (queue) =>
          queue.offer({ job: job.id, ...chunk }, { id: Feeder.deliveryOf(job, chunk) }))
    }))
    // before the fibers end: what is under way may still finish
    yield* Effect.addFinalizer(() =>
      runner.drain.pipe(
        Effect.timeoutOption(options.drain ?? "5 seconds"),
        Effect.asVoid
      )
    )
  })

/**
 * A runner that takes the chunks of all jobs whose files this process can read, and the jobs themselves. Jobs that run at
 * the same time take turns, file by file, however large each is and whichever was submitted first; of more than 16 jobs,
 * the oldest 16. It ends with its scope: it begins no further file, lets those under way finish, and gives its chunks
 * back. Killed, it loses nothing: another one takes over after the lease, or this one goes on when it is started again.
 *
 * The ledger of `NodeStevedore` is not used: switch it off with `ledger: false`.
 *
 * @example
 * import { Bulk, BulkSources } from "@stevedore/bulk"
 * import * as BulkQueue from "@stevedore/bulk/Queue"
 * import { NodeStevedore } from "@stevedore/node"
 * import * as Sqlite from "@stevedore/server/Sqlite"
 * import { Console, Effect, Layer, Stream } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const job = yield* Bulk.submit("archive-2026", BulkSources.directory("interviews", { recursive: true }))
 *   yield* job.progress.pipe(Stream.runForEach(({ failed, total, uploaded }) => Console.log(uploaded, failed, total)))
 * })
 *
 * const Live = BulkQueue.layer({ files: 16 }).pipe(
 *   Layer.provide(BulkSources.layerDirectory),
 *   Layer.provide(NodeStevedore.layerConfig({ ledger: false })),
 *   Layer.provide(Sqlite.layer({ file: "bulk.db" }))
 * )
 *
 * export const main = Effect.provide(program, Live)
 *
 * @category layers
 */
export const layer = (
  options: Options = {}
): Layer.Layer<
  Bulk.Bulk | BulkRunner.BulkRunner,
  Migrator.MigrationError | SqlError,
  SqlClient.SqlClient | BulkSources | Uploads.Requirements
> =>
  Layer.unwrapEffect(Effect.map(SqlClient.SqlClient, (sql) => {
    const lease = Duration.decode(options.lease ?? usualLease)
    return Layer.scopedDiscard(running(options)).pipe(
      Layer.provide(Layer.provide(PersistedQueue.layer, storeOf(sql, lease))),
      Layer.provideMerge(BulkRunner.layer({ ...options, heartbeat: heartbeatOf(lease) })),
      Layer.provideMerge(Bulk.layerClient)
    )
  }))
