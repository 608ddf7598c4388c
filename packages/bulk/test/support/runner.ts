import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { BulkRateLimit, BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { ServiceProfile } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer, Option } from "effect"

// parts of a few bytes
const profile = ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 5 } })

const database = PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") })

// how many calls all runners together may make in two seconds, if that is limited
const rateLimit = Layer.unwrapEffect(Effect.map(
  Config.option(Config.integer("CALLS")),
  Option.match({
    onNone: () => Layer.empty,
    onSome: (limit) =>
      Layer.provide(BulkRateLimit.layer({ token: "test", limit, window: "2 seconds", slice: 5 }), database)
  })
))

const Live = BulkQueue.layer({
  files: 4,
  lease: "3 seconds",
  // without a number of parts, which would be one for small files too
  upload: { threshold: 40, concurrency: 2 },
  name: `runner-${process.pid}`
}).pipe(
  Layer.provide(BulkSources.layerMounted({ files: Config.string("FILES_ROOT") })),
  Layer.provide(
    NodeStevedore.layerConfig({ ledger: false, profile: Config.succeed(profile) }).pipe(Layer.provide(rateLimit))
  ),
  Layer.provide(database)
)

Layer.launch(Live).pipe(NodeRuntime.runMain)
