import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkRunner, BulkSources } from "@stevedore/bulk"
import * as BulkCluster from "@stevedore/bulk/Cluster"
import * as BulkQueue from "@stevedore/bulk/Queue"
import * as SqlFileTable from "@stevedore/server/SqlFileTable"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { Array, Effect, Exit, Fiber, Layer, Schedule, Stream } from "effect"
import type { Postgres } from "../../../server/test/support/postgres.js"
import { postgres } from "../../../server/test/support/postgres.js"
import { sources } from "../support/lives.js"
import { proof } from "../support/proof.js"
import { service } from "../support/service.js"

const runner = (database: Postgres, files: ReturnType<typeof sources>) =>
  BulkQueue.layer({ files: 4, lease: "3 seconds", upload: { threshold: 40 } }).pipe(
    Layer.provideMerge(Layer.effect(
      BulkSources.BulkSources,
      Effect.tap(
        BulkSources.make({}),
        (service) => service.hold("job", new Map(files.map((source) => [source.name, source])))
      )
    )),
    Layer.provide(database.layer)
  )

describe("the tables in PostgreSQL", () => {
  it.live("are made once by processes that start at once on an empty database", () =>
    Effect.gen(function*() {
      const { named } = yield* postgres
      const makers = { bulk: Bulk.migrate, cluster: BulkCluster.migrate, files: SqlFileTable.migrate }
      for (const turn of Array.range(1, 5)) {
        for (const [name, migrate] of Object.entries(makers)) {
          const database = yield* named(`${name}_${turn}`)
          // those of the cluster come after those of bulk, where one is first
          if (name === "cluster") yield* Effect.provide(Bulk.migrate, database.layer)
          const made = Array.makeBy(6, () => Effect.exit(Effect.provide(migrate, Layer.fresh(database.layer))))
          const exits = yield* Effect.all(made, { concurrency: 6 })
          assert.deepStrictEqual(Array.map(exits, String), Array.map(exits, () => String(Exit.void)), name)
        }
      }
    }).pipe(Effect.scoped), 120_000)
})

describe("a job in PostgreSQL", () => {
  it.live("is done by two runners that start at once on an empty database", () =>
    Effect.gen(function*() {
      const database = yield* postgres
      const files = sources(40)
      const submitted = Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 5 })
        return yield* job.await
      }).pipe(Effect.provide(runner(database, files)))
      const totals = yield* Effect.all([submitted, submitted], { concurrency: 2 })
      assert.deepStrictEqual(totals[0], { uploaded: 40, failed: 0, cancelled: 0 })
      yield* Effect.provide(proof(files), database.layer)
    }).pipe(Effect.scoped, Effect.provide(service())), 120_000)

  it.live("goes on when its database has crashed and is back", () =>
    Effect.gen(function*() {
      const database = yield* postgres
      const files = sources(60)
      const working = yield* Effect.gen(function*() {
        yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 10 })
        return yield* Effect.never
      }).pipe(Effect.provide(runner(database, files)), Effect.fork)
      yield* Effect.repeat(Effect.delay(Sandbox.files, "5 millis"), { until: (files) => files.length >= 10 })
      yield* database.crash
      yield* Effect.sleep("2 seconds")
      yield* database.start
      const watching = Effect.flatMap(Bulk.get("job"), (job) => job.await).pipe(
        Effect.provide(Layer.provide(Bulk.layerClient, database.layer)),
        Effect.retry({ times: 50, schedule: Schedule.spaced("300 millis") })
      )
      assert.deepStrictEqual(yield* watching, { uploaded: 60, failed: 0, cancelled: 0 })
      yield* Fiber.interrupt(working)
      yield* Effect.provide(proof(files), database.layer)
    }).pipe(Effect.scoped, Effect.provide(service())), 120_000)

  it.live("gets what a later submit has more, once, also where two submit at once", () =>
    Effect.gen(function*() {
      const database = yield* postgres
      const files = sources(23)
      const submitted = (count: number) =>
        Effect.flatMap(
          Bulk.submit("job", BulkSources.fromIterable(files.slice(0, count)), { chunkSize: 5 }),
          (job) => job.await
        )
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* submitted(7), { uploaded: 7, failed: 0, cancelled: 0 })
        const totals = yield* Effect.all([submitted(23), submitted(23), submitted(7)], { concurrency: 3 })
        assert.deepStrictEqual(totals[0], { uploaded: 23, failed: 0, cancelled: 0 })
        assert.deepStrictEqual(totals[1], totals[0])
      }).pipe(Effect.provide(runner(database, files)))
      yield* Effect.provide(proof(files), database.layer)
    }).pipe(Effect.scoped, Effect.provide(service())), 120_000)

  it.live("retries what has failed, and counts the rest right", () =>
    Effect.gen(function*() {
      const database = yield* postgres
      const files = sources(9)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 3 })
        assert.deepInclude(yield* job.await, { failed: 4 })
        yield* job.retryFailed
        assert.deepStrictEqual(yield* job.await, { uploaded: 9, failed: 0, cancelled: 0 })
      }).pipe(Effect.provide(runner(database, files)))
      yield* Effect.provide(proof(files), database.layer)
    }).pipe(
      Effect.scoped,
      Effect.provide(service({ faults: FaultScript.on("initiate").times(4).answer(400, "BadRequest") }))
    ), 120_000)

  it.live("goes on with the sessions of a runner that has gone without a word", () =>
    Effect.gen(function*() {
      const database = yield* postgres
      const files = sources(20)
      const claimed = Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 20 })
        return yield* Bulk.runChunk(job.id, 0)
      })
      const alone = (heartbeat: "100 millis") =>
        Layer.merge(BulkRunner.layer({ files: 2, heartbeat, upload: { threshold: 40 } }), Bulk.layerClient).pipe(
          Layer.provideMerge(BulkSources.layer({})),
          Layer.provide(database.layer)
        )
      const first = yield* Effect.fork(Effect.provide(claimed, alone("100 millis")))
      yield* Effect.repeat(Effect.delay(Sandbox.files, "1 millis"), { until: (files) => files.length >= 3 })
      assert.strictEqual(yield* Effect.provide(claimed, alone("100 millis")), "done")
      assert.strictEqual(yield* Fiber.join(first), "lost")
      yield* Effect.provide(proof(files), database.layer)
    }).pipe(Effect.scoped, Effect.provide(service())), 120_000)

  it.live("keeps a chunk that takes longer than the lease with the runner that has it", () =>
    Effect.gen(function*() {
      const database = yield* postgres
      const files = sources(2)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files))
        assert.deepInclude(yield* job.await, { uploaded: 2 })
      }).pipe(Effect.provide(runner(database, files)))
      const { requests } = yield* Sandbox.report
      assert.strictEqual(requests.filter(({ operation }) => operation === "initiate").length, 2)
      const claims = Effect.flatMap(SqlClient, (sql) => sql<{ readonly epoch: number }>`select epoch from bulk_chunk`)
      assert.deepStrictEqual(yield* Effect.provide(claims, database.layer), [{ epoch: 1 }])
      yield* Effect.provide(proof(files), database.layer)
    }).pipe(
      Effect.scoped,
      Effect.provide(service({ faults: FaultScript.on("put").always().delay("9 seconds") }))
    ), 120_000)

  it.live(
    "loads a manifest in statements of thousands of files, and pages through what came of them",
    () =>
      Effect.gen(function*() {
        const database = yield* postgres
        const entries = Stream.map(Stream.range(0, 20_000), (n) => ({ path: `${n}.jpg`, size: 100 }))
        yield* Effect.gen(function*() {
          const job = yield* Bulk.submit("job", BulkSources.files("/nowhere", entries))
          assert.strictEqual(job.chunks, 201)
          assert.deepInclude(yield* job.status, {
            state: "running",
            total: 20_001,
            bytes: { total: 2_000_100, uploaded: 0 }
          })
          yield* job.cancel
          assert.deepStrictEqual(yield* job.await, { uploaded: 0, failed: 0, cancelled: 20_001 })
          yield* job.forget
        }).pipe(Effect.provide(Layer.provide(Bulk.layerClient, database.layer)))
      }).pipe(Effect.scoped),
    120_000
  )
})
