import { ClusterWorkflowEngine, TestRunner } from "@effect/cluster"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import * as BulkCluster from "@stevedore/bulk/Cluster"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { ObjectStorage } from "@stevedore/core"
import { Effect, Layer } from "effect"
import { database, sources, sql } from "../support/lives.js"
import { proof } from "../support/proof.js"
import { service } from "../support/service.js"

const cluster = ClusterWorkflowEngine.layer.pipe(Layer.provideMerge(TestRunner.layer))

const options = { files: 4, drain: "100 millis" } as const

describe("a runner that is asked to end", () => {
  for (
    const [name, driver] of [
      ["of the queue", BulkQueue.layer(options)],
      ["of a cluster", Layer.provide(BulkCluster.layer(options), cluster)]
    ] as const
  ) {
    it.live(`ends although a file would take for ever: one ${name}`, () =>
      Effect.gen(function*() {
        const client = yield* database
        const files = sources(3)
        const submitted = Bulk.submit("job", BulkSources.fromIterable(files))
        const runner = driver.pipe(
          Layer.provideMerge(BulkSources.layer({})),
          Layer.provide(sql(client))
        )
        const storage = yield* ObjectStorage.ObjectStorage
        const isSent = yield* Effect.makeLatch()
        const endless = Layer.succeed(ObjectStorage.ObjectStorage, {
          ...storage,
          put: () => Effect.zipRight(isSent.open, Effect.never)
        })
        yield* Effect.zipRight(submitted, isSent.await).pipe(Effect.provide(Layer.provide(runner, endless)))
        const uploaded = Effect.flatMap(SqlClient, (sql) => sql`select uploaded from bulk_chunk`)
        assert.deepStrictEqual(yield* Effect.provide(uploaded, sql(client)), [{ uploaded: 0 }])
        // the next one goes on
        yield* Effect.flatMap(submitted, (job) => job.await).pipe(Effect.provide(runner))
        yield* Effect.provide(proof(files), sql(client))
      }).pipe(Effect.scoped, Effect.provide(service())), 20_000)
  }
})
