/**
 * Runs jobs by a queue in their own database: `SqlPersistedQueue` of `@effect/sql` in PostgreSQL, for any number of
 * machines. In SQLite, which is for one process, the queue is in memory, and the jobs are in the file.
 *
 * @since 0.1.0
 */
import * as PersistedQueue from "@effect/experimental/PersistedQueue"
import type * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as SqlPersistedQueue from "@effect/sql/SqlPersistedQueue"
import type * as Uploads from "@stevedore/core/Uploads"
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
import { isPostgres } from "./internal/dialect.js"
import * as JobRows from "./internal/jobRows.js"
import { queueTable } from "./internal/queueTable.js"

/**
 * How this process takes part.
 *
 * @since 0.1.0
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

/** How many leases a chunk may be silent before it is fed again, in case the queue has lost it. */
const silentLeases = 10

const storeOf = (sql: SqlClient.SqlClient, lease: Duration.Duration) =>
  isPostgres(sql)
    ? SqlPersistedQueue.layerStore({
      tableName: queueTable,
      pollInterval: "300 millis",
      lockRefreshInterval: Duration.times(lease, 0.3),
      lockExpiration: lease
    })
    : PersistedQueue.layerStoreMemory

/** Tells once what goes wrong, and tries again. */
const steady = <E, R>(what: string, effect: Effect.Effect<void, E, R>): Effect.Effect<void, never, R> =>
  Effect.catchAllCause(effect, (cause) => Effect.logWarning(`The queue of chunks cannot ${what}: trying again`, cause))

const running = (options: Options) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* JobRows.make
    const factory = yield* PersistedQueue.PersistedQueueFactory
    const runner = yield* BulkRunner.BulkRunner
    const sources = yield* BulkSources
    const lease = Duration.decode(options.lease ?? usualLease)
    const queueOf = (name: string) => factory.make({ name, schema: Element })

    // SQLite is for one process: whatever was fed, nobody works on it any more
    if (!isPostgres(sql)) yield* rows.feedAllAgain

    const takers = yield* FiberMap.make<string>()

    const take = (name: string) =>
      Effect.gen(function*() {
        const queue = yield* queueOf(name)
        yield* queue.take((chunk) =>
          Effect.flatMap(runner.isDraining, (isDraining) =>
            // not begun, and so not done: the queue gives it to another one
            isDraining ? Effect.never : Effect.flatMap(runner.runChunk(chunk), (end) =>
              // nobody else may have it: it is delivered again, when whoever has claimed it had time to end
              end === "lost" ? Effect.delay(new ChunkLost(), lease) : Effect.void)), { maxAttempts })
      }).pipe(
        Effect.catchTag("ChunkLost", () => Effect.void),
        (one) => Effect.forever(Effect.tap(steady("take chunks", one), () => Effect.yieldNow()))
      )

    const feed = Effect.gen(function*() {
      const queues = yield* sources.queues
      yield* Effect.forEach(queues, (name) =>
        Effect.forEach(
          Array.from({ length: chunksAtOnce(sql) }, (_, slot) => `${slot}/${name}`),
          (key) => FiberMap.run(takers, key, take(name), { onlyIfMissing: true }),
          { discard: true }
        ), { discard: true })
      yield* rows.finish(queues)
      const window = options.window ?? 16
      for (const job of yield* rows.running(queues)) {
        yield* rows.feedAgain(job.id, silentLeases * Duration.toMillis(lease))
        if (job.fed >= window) continue
        const queue = yield* queueOf(job.queue)
        yield* Effect.forEach(yield* rows.toFeed(job.id, window - job.fed), (chunk) => {
          const { n, pass } = chunk
          // the name makes an offer repeatable: a process that dies between the two leaves nothing undone
          const offer = queue.offer({ job: job.id, n, pass }, { id: `${job.id}/${n}/${pass}` })
          return Effect.zipRight(offer, rows.fed(job.id, chunk))
        }, { discard: true })
      }
    })

    yield* Effect.forkScoped(Effect.repeat(steady("feed chunks", feed), Schedule.spaced("300 millis")))
    // before the fibers end: what is under way may still finish
    yield* Effect.addFinalizer(() =>
      runner.drain.pipe(
        Effect.timeoutOption(options.drain ?? "5 seconds"),
        Effect.asVoid
      )
    )
  })

/**
 * A runner that takes the chunks of all jobs whose files this process can read, and the jobs themselves. It ends with its
 * scope: it begins no further file, lets those under way finish, and gives its chunks back. Killed, it loses nothing:
 * another one takes over after the lease, or this one goes on when it is started again.
 *
 * The ledger of `NodeStevedore` is not used: switch it off with `ledger: false`.
 *
 * @example
 * import { LibsqlClient } from "@effect/sql-libsql"
 * import { Bulk, BulkSources } from "@stevedore/bulk"
 * import * as BulkQueue from "@stevedore/bulk/Queue"
 * import { NodeStevedore } from "@stevedore/node"
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
 *   Layer.provide(LibsqlClient.layer({ url: "file:bulk.db" }))
 * )
 *
 * export const main = Effect.provide(program, Live)
 *
 * @since 0.1.0
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
      Layer.provideMerge(BulkRunner.layer({ ...options, heartbeat: Duration.times(lease, 0.3) })),
      Layer.provideMerge(Bulk.layerClient)
    )
  }))
