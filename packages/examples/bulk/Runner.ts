/** A runner, as each machine has one: any number of them, which may come and go. */
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer } from "effect"

const Runner = Layer.unwrapEffect(
  Effect.map(Config.string("RUNNER"), (name) => BulkQueue.layer({ name, files: 8, lease: "5 seconds" }))
).pipe(
  // each machine's own mount of one file system
  Layer.provide(BulkSources.layerMounted({ recordings: Config.string("RECORDINGS_ROOT") })),
  // the job's ledger is in the database
  Layer.provide(NodeStevedore.layerConfig({ ledger: false })),
  Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
)

Layer.launch(Runner).pipe(NodeRuntime.runMain)
