import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Layer } from "effect"

// parts of a few bytes
const profile = ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 5 } })

const Live = BulkQueue.layer({
  files: 4,
  lease: "3 seconds",
  upload: { threshold: 40, parts: 2, concurrency: 2 },
  name: `runner-${process.pid}`
}).pipe(
  Layer.provide(BulkSources.layerMounted({ files: Config.string("FILES_ROOT") })),
  Layer.provide(NodeStevedore.layerConfig({ ledger: false, profile: Config.succeed(profile) })),
  Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
)

Layer.launch(Live).pipe(NodeRuntime.runMain)
