import { ClusterWorkflowEngine, RunnerAddress } from "@effect/cluster"
import { NodeClusterSocket, NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { BulkSources } from "@stevedore/bulk"
import * as BulkCluster from "@stevedore/bulk/Cluster"
import { ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer, Option } from "effect"

// parts of a few bytes
const profile = ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 5 } })

const database = PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") })

const cluster = Layer.unwrapEffect(
  Effect.map(Config.integer("CLUSTER_PORT"), (port) =>
    ClusterWorkflowEngine.layer.pipe(
      Layer.provideMerge(NodeClusterSocket.layer({
        storage: "sql",
        runnerHealth: "ping",
        shardingConfig: {
          ...BulkCluster.shardingConfig(),
          runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port))
        }
      })),
      Layer.provide(BulkCluster.layerMigrate)
    ))
)

const Live = BulkCluster.layer({
  files: 4,
  upload: { threshold: 40, parts: 2, concurrency: 2 },
  name: `runner-${process.pid}`
}).pipe(
  Layer.provide(cluster),
  Layer.provide(BulkSources.layerMounted({ files: Config.string("FILES_ROOT") })),
  Layer.provide(NodeStevedore.layerConfig({ ledger: false, profile: Config.succeed(profile) })),
  Layer.provide(database)
)

Layer.launch(Live).pipe(NodeRuntime.runMain)
