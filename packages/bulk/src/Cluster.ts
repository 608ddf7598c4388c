/**
 * Runs jobs on `@effect/cluster`, by workflows of `@effect/workflow`, for who has a cluster already. Experimental: those
 * packages are older than 1.0, and what they keep in the database changes with them. Whoever has no cluster takes
 * `@stevedore/bulk/Queue`, which needs no ports and shares chunks out more evenly.
 */
import * as ClusterSchema from "@effect/cluster/ClusterSchema"
import * as EntityAddress from "@effect/cluster/EntityAddress"
import * as EntityId from "@effect/cluster/EntityId"
import * as EntityType from "@effect/cluster/EntityType"
import * as MessageStorage from "@effect/cluster/MessageStorage"
import * as Sharding from "@effect/cluster/Sharding"
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "@effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import type * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Activity from "@effect/workflow/Activity"
import * as Workflow from "@effect/workflow/Workflow"
import type { WorkflowEngine } from "@effect/workflow/WorkflowEngine"
import type * as Uploads from "@stevedore/core/Uploads"
import { isPostgres } from "@stevedore/server/SqlDatabase"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Bulk from "./Bulk.js"
import * as BulkRunner from "./BulkRunner.js"
import { BulkSources } from "./BulkSources.js"
import * as ChunkRows from "./jobs/chunkRows.js"
import * as Feeder from "./jobs/feeder.js"
import * as JobRows from "./jobs/jobRows.js"
import { hostQueue, patient } from "./jobs/statements.js"

/**
 * How this process takes part.
 *
 * @category models
 */
export interface Options extends BulkRunner.Options {
  /** How long the files that are under way may still take when this process is asked to end. Defaults to 5 seconds. */
  readonly drain?: Duration.DurationInput | undefined
  /** How many chunks of each job the cluster has at most, all of which it begins at once. Defaults to 16. */
  readonly window?: number | undefined
  /**
   * The name of this machine, for the jobs that are pinned to it: the one of its {@link BulkSources} and of its
   * {@link shardingConfig}.
   */
  readonly host?: string | undefined
}

const usualHeartbeat = Duration.seconds(3)

/** How many heartbeats a chunk may be silent before it is fed again, in case that the cluster has lost it. */
const silentHeartbeats = 33

/** How long the rows of a workflow that has ended are still there: until its end is surely written. */
const prunedAfter = Duration.seconds(5)

const Payload = { delivery: Schema.String, job: Schema.Int, n: Schema.Int, pass: Schema.Int }

const End = Schema.Literal("done", "released", "refused", "lost")

/** The shards of a machine, for the chunks that are pinned to it. */
const shardGroupOf = (host: string | undefined): string => host === undefined ? "default" : hostQueue(host)

/**
 * A workflow for each machine that has pinned jobs, because its shards follow from the workflow. The name has the version
 * of what its payload means: one that means something else needs another name, which all runners know first.
 */
const chunkWorkflow = (host: string | undefined) => {
  const group = shardGroupOf(host)
  return Workflow.make({
    name: host === undefined ? "Stevedore/BulkChunk/1" : `Stevedore/BulkChunk/1@${host}`,
    payload: Payload,
    success: End,
    idempotencyKey: ({ delivery }) => delivery
  }).annotate(ClusterSchema.ShardGroup, () => group)
}

type Delivered = BulkRunner.Chunk & { readonly pass: number }

type ChunkWorkflow = ReturnType<typeof chunkWorkflow>

/** Where the cluster keeps what it knows about a workflow. */
const addressOf = (sharding: Sharding.Sharding["Type"], { name }: ChunkWorkflow, group: string, execution: string) => {
  const entityId = EntityId.EntityId.make(execution)
  return new EntityAddress.EntityAddress({
    entityType: EntityType.EntityType.make(`Workflow/${name}`),
    entityId,
    shardId: sharding.getShardId(entityId, group)
  })
}

const running = (options: Options) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* JobRows.make
    const chunks = yield* ChunkRows.make
    const runner = yield* BulkRunner.BulkRunner
    const sources = yield* BulkSources
    const sharding = yield* Sharding.Sharding
    const storage = yield* MessageStorage.MessageStorage
    const scope = yield* Effect.scope
    const heartbeat = Duration.decode(options.heartbeat ?? usualHeartbeat)

    // SQLite is for one process: whatever was fed, nobody works on it any more
    if (!isPostgres(sql)) yield* rows.feedAllAgain

    /** Nobody asks for the end of a chunk: without this, the cluster would keep four rows of each for ever. */
    const prune = (workflow: ChunkWorkflow, group: string, execution: string) =>
      storage.clearAddress(addressOf(sharding, workflow, group, execution)).pipe(
        Effect.retry({ schedule: Schedule.spaced("2 seconds"), times: 10 }),
        Effect.ignoreLogged,
        Effect.delay(prunedAfter),
        Effect.forkIn(scope),
        Effect.asVoid
      )

    const cut = yield* Deferred.make<void>()

    /** An activity cannot be interrupted, and so a file of hours would keep the process that is asked to end. */
    const work = (chunk: Delivered) =>
      Effect.raceFirst(
        Effect.interruptible(runner.runChunk(chunk)),
        Effect.as(Effect.interruptible(Deferred.await(cut)), undefined)
      ).pipe(
        Effect.flatMap((end) =>
          end !== undefined
            ? Effect.succeed(end)
            // where the database is away, the chunk is found silent later
            : Effect.as(
              Effect.timeoutOption(Effect.interruptible(chunks.refuse(chunk)), "2 seconds"),
              "released" as const
            )
        )
      )

    const execute = (chunk: Delivered) =>
      Effect.gen(function*() {
        const queue = yield* patient("answer", rows.queueOf(chunk.job))
        // a runner without the files gives it back: the next pass has another key, and so perhaps another runner
        return (yield* sources.queues).some((known) => known === queue)
          ? yield* work(chunk)
          : yield* Effect.as(chunks.refuse(chunk), "refused" as const)
      })

    const registered = (host: string | undefined) => {
      const workflow = chunkWorkflow(host)
      const run = workflow.toLayer((chunk, execution) =>
        Activity.make({ name: "upload", success: End, execute: execute(chunk) }).pipe(
          Effect.tap(() => prune(workflow, shardGroupOf(host), execution))
        )
      )
      return Effect.as(Layer.build(run), workflow)
    }

    const anywhere = yield* registered(undefined)
    const here = options.host === undefined ? anywhere : yield* registered(options.host)
    const pinned = options.host === undefined ? undefined : hostQueue(options.host)

    yield* Effect.forkScoped(Feeder.feeding({
      rows,
      sources,
      window: options.window,
      silence: Duration.times(heartbeat, silentHeartbeats),
      serve: () => Effect.void,
      offer: (job, chunk) =>
        Effect.flatMap(runner.isDraining, (isDraining) =>
          isDraining ? Effect.never : (job.queue === pinned ? here : anywhere).execute({
            delivery: Feeder.deliveryOf(job, chunk),
            job: job.id,
            ...chunk
          }, { discard: true }))
    }))
    // before the workflows are interrupted: what is under way may still finish
    yield* Effect.addFinalizer(() =>
      runner.drain.pipe(
        Effect.timeoutOption(options.drain ?? "5 seconds"),
        Effect.zipRight(Deferred.succeed(cut, undefined))
      )
    )
  })

/**
 * What a cluster that uploads is to be configured with, where the defaults of `@effect/cluster` would leave the files of
 * a dead runner alone for 35 seconds, and those of one that hangs for as long as it hangs. Each runner of a cluster has
 * the same, but for its own address and host.
 *
 * @category options
 */
export const shardingConfig = (
  options: { readonly host?: string | undefined } = {}
): Partial<ShardingConfig.ShardingConfig["Type"]> => {
  const groups = ["default", ...(options.host === undefined ? [] : [shardGroupOf(options.host)])]
  return {
    availableShardGroups: groups,
    assignedShardGroups: groups,
    // an advisory lock of PostgreSQL is held as long as its connection, also of a process that hangs
    shardLockDisableAdvisory: true,
    shardLockExpiration: Duration.seconds(10),
    shardLockRefreshInterval: Duration.seconds(3),
    runnerHealthCheckInterval: Duration.seconds(2),
    refreshAssignmentsInterval: Duration.seconds(1),
    entityMessagePollInterval: Duration.seconds(2),
    entityTerminationTimeout: Duration.seconds(5),
    simulateRemoteSerialization: false
  }
}

/**
 * Makes the tables of jobs and those of the cluster, whose own layers fail where two processes make them at the same time
 * on an empty database. Safe to run anywhere, any number of times.
 *
 * @category migrations
 */
export const migrate: Effect.Effect<void, Migrator.MigrationError | SqlError, SqlClient.SqlClient> = Effect.zipRight(
  Bulk.migrate,
  Layer.merge(SqlMessageStorage.layer, SqlRunnerStorage.layer).pipe(
    Layer.provide(ShardingConfig.layer({ shardLockDisableAdvisory: true })),
    Layer.build,
    Effect.scoped,
    Effect.asVoid,
    // the layer of messages dies of the error that it meets where another process is first
    Effect.sandbox,
    Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 5 }),
    Effect.unsandbox
  )
)

/**
 * {@link migrate} as a layer, to be provided to the one of the cluster.
 *
 * @category migrations
 */
export const layerMigrate: Layer.Layer<never, Migrator.MigrationError | SqlError, SqlClient.SqlClient> = Layer
  .effectDiscard(migrate)

/**
 * A runner on the cluster and the engine of workflows that it finds: `ClusterWorkflowEngine.layer` over
 * `NodeClusterSocket.layer` for several machines, over `SingleRunner.layer` for one, over `TestRunner.layer` for a test.
 * Each process with this layer takes chunks, and the cluster says which. It ends with its scope: it begins no further
 * file, lets those under way finish, and gives its chunks back. Killed, it loses nothing: another one takes over when its
 * shards are free.
 *
 * Jobs that are pinned to a machine need its name here and in its {@link shardingConfig}. The ledger of `NodeStevedore` is
 * not used: switch it off with `ledger: false`.
 *
 * @example
 * import { ClusterWorkflowEngine, RunnerAddress } from "@effect/cluster"
 * import { NodeClusterSocket } from "@effect/platform-node"
 * import { PgClient } from "@effect/sql-pg"
 * import { BulkSources } from "@stevedore/bulk"
 * import * as BulkCluster from "@stevedore/bulk/Cluster"
 * import { NodeStevedore } from "@stevedore/node"
 * import { Config, Layer, Option } from "effect"
 *
 * const cluster = ClusterWorkflowEngine.layer.pipe(
 *   Layer.provideMerge(NodeClusterSocket.layer({
 *     storage: "sql",
 *     runnerHealth: "ping",
 *     shardingConfig: {
 *       ...BulkCluster.shardingConfig(),
 *       // below the ports that Linux gives to connections
 *       runnerAddress: Option.some(RunnerAddress.make("10.0.0.7", 7101))
 *     }
 *   })),
 *   Layer.provide(BulkCluster.layerMigrate)
 * )
 *
 * export const Runner = BulkCluster.layer({ files: 16 }).pipe(
 *   Layer.provide(cluster),
 *   Layer.provide(BulkSources.layerMounted({ archive: Config.string("ARCHIVE_ROOT") })),
 *   Layer.provide(NodeStevedore.layerConfig({ ledger: false })),
 *   Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
 * )
 *
 * @category layers
 */
export const layer = (
  options: Options = {}
): Layer.Layer<
  Bulk.Bulk | BulkRunner.BulkRunner,
  Migrator.MigrationError | SqlError,
  | SqlClient.SqlClient
  | BulkSources
  | Uploads.Requirements
  | Sharding.Sharding
  | MessageStorage.MessageStorage
  | WorkflowEngine
> =>
  Layer.scopedDiscard(running(options)).pipe(
    Layer.provideMerge(BulkRunner.layer(options)),
    Layer.provideMerge(Bulk.layerClient)
  )
