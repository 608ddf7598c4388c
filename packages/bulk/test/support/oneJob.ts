import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Bulk, BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer } from "effect"

// parts of a few bytes
const profile = ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 5 } })

const Live = BulkQueue.layer({ files: 4, upload: { threshold: 40, parts: 2 } }).pipe(
  Layer.provide(BulkSources.layerMounted({ files: Config.string("FILES_ROOT") })),
  Layer.provide(NodeStevedore.layerConfig({ ledger: false, profile: Config.succeed(profile) })),
  Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
)

// a program with a runner that has nothing else to do than this job
Effect.flatMap(Bulk.get("job"), (job) => job.await).pipe(Effect.provide(Live), NodeRuntime.runMain)
