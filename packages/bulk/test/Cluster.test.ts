import {
  ClusterWorkflowEngine,
  MessageStorage,
  RunnerHealth,
  Runners,
  RunnerStorage,
  Sharding,
  ShardingConfig,
  TestRunner
} from "@effect/cluster"
import type { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import * as BulkCluster from "@stevedore/bulk/Cluster"
import { ObjectStorage } from "@stevedore/core"
import { Sandbox } from "@stevedore/testing"
import { Effect, Layer, Scope } from "effect"
import { database, Life, reached, sources, sql } from "./support/lives.js"
import { waitsForItsMachine } from "./support/pinned.js"
import { proof } from "./support/proof.js"
import { service } from "./support/service.js"

const upload = { threshold: 40, parts: 2, concurrency: 2 }

const cluster = ClusterWorkflowEngine.layer.pipe(Layer.provideMerge(TestRunner.layer))

const runner = (client: SqlClient, options: BulkCluster.Options = {}, life = new Life()) =>
  BulkCluster.layer({ files: 4, upload, drain: "2 seconds", ...options }).pipe(
    Layer.provideMerge(cluster),
    Layer.provideMerge(BulkSources.layer({})),
    Layer.provideMerge(sql(client, life))
  )

const there = (count: number) =>
  Effect.repeat(Effect.delay(Sandbox.files, "5 millis"), { until: (files) => files.length >= count })

// What was read of the job's state is a second old at most, and what is under way ends: then nothing is uploaded any more
const atRest = (job: Bulk.Job) =>
  Effect.repeat(
    Effect.zip(job.status, Effect.delay(job.status, "2 seconds")),
    { until: ([before, after]) => before.uploaded === after.uploaded, times: 10 }
  ).pipe(Effect.map(([, after]) => after))

describe("a job on a cluster", () => {
  it.live("runs to its end", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(9)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 2 })
        assert.deepStrictEqual(yield* job.await, { uploaded: 9, failed: 0, cancelled: 0 })
      }).pipe(Effect.provide(runner(client)))
      yield* Effect.provide(proof(files), sql(client))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("leaves nothing in the cluster once its chunks have ended", () =>
    Effect.gen(function*() {
      const client = yield* database
      yield* Effect.gen(function*() {
        const { journal } = yield* MessageStorage.MemoryDriver
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(sources(4)), { chunkSize: 2 })
        yield* job.await
        assert.isAbove(journal.length, 0)
        yield* Effect.repeat(Effect.delay(Effect.sync(() => journal.length), "200 millis"), {
          until: (length) => length === 0
        })
      }).pipe(Effect.provide(runner(client)))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("uploads no file twice where a chunk is executed twice at once", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(8)
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 8 })
        yield* there(1)
        yield* Bulk.runChunk(job.id, 0)
        assert.deepStrictEqual(yield* job.await, { uploaded: 8, failed: 0, cancelled: 0 })
      }).pipe(Effect.provide(runner(client, { files: 1, heartbeat: "100 millis" })))
      yield* Effect.provide(proof(files), sql(client))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("goes on with the chunks of a process that has died", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(9)
      const submitted = Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 3 })
      const life = new Life("Complete")
      // nobody ends a process that has died: its scope stays as it is
      const context = yield* Layer.buildWithScope(
        Layer.provide(runner(client, {}, life), reached(life)),
        yield* Scope.make()
      )
      yield* Effect.provide(submitted, context)
      yield* Effect.timeout(life.stopped, "20 seconds")
      yield* Effect.gen(function*() {
        const job = yield* submitted
        assert.deepStrictEqual(yield* job.await, { uploaded: 9, failed: 0, cancelled: 0 })
      }).pipe(Effect.provide(runner(client)))
      yield* Effect.provide(proof(files), sql(client))
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("waits while it is paused, goes on, and keeps what it has when it is cancelled", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = sources(40)
      const storage = yield* ObjectStorage.ObjectStorage
      const slow = Layer.succeed(ObjectStorage.ObjectStorage, {
        ...storage,
        // so slow that files are left, although what is read of the job's state is a second old
        put: (request) => Effect.delay(storage.put(request), "500 millis")
      })
      yield* Effect.gen(function*() {
        const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 5 })
        yield* there(1)
        yield* job.pause
        const paused = yield* atRest(job)
        assert.isBelow(paused.uploaded, 40)
        yield* job.resume
        yield* there(paused.uploaded + 2)
        yield* job.cancel
        const { cancelled, failed, uploaded } = yield* job.await
        assert.strictEqual(failed, 0)
        assert.isAbove(cancelled, 0)
        assert.lengthOf(yield* Sandbox.files, uploaded)
        yield* Sandbox.expectNoBreach
      }).pipe(Effect.provide(Layer.provide(runner(client), slow)))
    }).pipe(Effect.scoped, Effect.provide(service())))
})

/** The cluster of a test with the shards of a machine. */
const clusterOf = (host: string) =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(Sharding.layer),
    Layer.provide([Runners.layerNoop, RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
    Layer.provideMerge(MessageStorage.layerMemory),
    Layer.provide(ShardingConfig.layer(BulkCluster.shardingConfig({ host })))
  )

describe("files of one machine", () => {
  it.live("are uploaded by the runners of that machine only, on shards of its own", () =>
    Effect.gen(function*() {
      const client = yield* database
      const on = (host: string) =>
        BulkCluster.layer({ upload, drain: "1 second", host }).pipe(
          Layer.provideMerge(clusterOf(host)),
          Layer.provide(BulkSources.layerLocal({ host })),
          Layer.provide(sql(client))
        )
      const hasItsShards = Effect.map(MessageStorage.MemoryDriver, ({ journal }) => {
        const groups = journal.flatMap(({ _tag, address }) => _tag === "Request" ? [address.shardId.group] : [])
        assert.isAbove(groups.length, 0)
        assert.isTrue(groups.every((group) => group === "host:nas-1"))
      })
      yield* waitsForItsMachine(client, on, hasItsShards)
    }).pipe(Effect.scoped, Effect.provide(service())))
})
