import type { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import * as BulkQueue from "@stevedore/bulk/Queue"
import { UploadSources } from "@stevedore/core"
import { Sandbox } from "@stevedore/testing"
import { Effect, Layer, Stream, TestClock } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Turnstile from "../../src/runner/turnstile.js"
import { bytes, database, sql } from "../support/lives.js"
import { folder } from "../support/pinned.js"
import { proof } from "../support/proof.js"
import { service } from "../support/service.js"

const filesOf = (job: string, count: number) =>
  Array.from({ length: count }, (_, n) => UploadSources.fromBytes(`${job}-${n}.bin`, bytes(16 + n % 9)))

/** Files on this disk: all such jobs are for the same runners. */
const onDisk = (root: string, job: string, count: number) => {
  const paths = Array.from({ length: count }, (_, n) => `${job}-${n}.bin`)
  for (const [n, path] of paths.entries()) writeFileSync(join(root, path), bytes(16 + n % 9))
  return BulkSources.files(root, Stream.fromIterable(paths.map((path) => ({ path }))))
}

const queue = (client: SqlClient) =>
  BulkQueue.layer({ files: 4, drain: "2 seconds" }).pipe(
    Layer.provideMerge(BulkSources.layerDirectory),
    Layer.provideMerge(sql(client))
  )

/** The jobs of the files that are there, in order: one letter for each. */
const there = Effect.map(Sandbox.files, (files) => files.map(({ name }) => `${name}`[0]))

/** Which share of the files, and so of the calls, the second job had, from its first one to its last one. */
const shareOfSecond = (order: ReadonlyArray<string | undefined>) => {
  const both = order.slice(order.indexOf("b"), order.lastIndexOf("b") + 1)
  return both.filter((job) => job === "b").length / both.length
}

describe("two jobs of very different size", () => {
  it.live("take turns, and the small one does not wait for what the large one has in the queue", () =>
    Effect.gen(function*() {
      const client = yield* database
      const root = yield* folder
      yield* Effect.gen(function*() {
        const first = yield* Bulk.submit("large", onDisk(root, "a", 200), { chunkSize: 10 })
        yield* Effect.repeat(Effect.delay(first.status, "10 millis"), { until: ({ uploaded }) => uploaded > 0 })
        const second = yield* Bulk.submit("small", onDisk(root, "b", 9), { chunkSize: 3 })
        assert.deepInclude(yield* second.await, { uploaded: 9 })
        yield* first.cancel
        yield* first.await
        // what was begun before the last one of the small job: its end is heard of a little later
        const order = yield* there
        assert.isBelow(order.slice(0, order.lastIndexOf("b")).filter((job) => job === "a").length, 60)
      }).pipe(Effect.provide(queue(client)))
      yield* Sandbox.expectNoBreach
    }).pipe(Effect.scoped, Effect.provide(service())))

  it.live("share the limit of calls, also where a chunk of one has many more files than one of the other", () =>
    Effect.gen(function*() {
      const client = yield* database
      const root = yield* folder
      yield* Effect.gen(function*() {
        const first = yield* Bulk.submit("large", onDisk(root, "a", 150), { chunkSize: 75 })
        const second = yield* Bulk.submit("small", onDisk(root, "b", 30), { chunkSize: 15 })
        yield* Effect.zipRight(second.await, first.cancel)
        const share = shareOfSecond(yield* there)
        assert.isAtLeast(share, 0.4)
        assert.isAtMost(share, 0.6)
      }).pipe(Effect.provide(queue(client)))
    }).pipe(
      Effect.scoped,
      Effect.provide(service({ rateLimit: { limit: 40, window: "500 millis" } }))
    ))
})

describe("a job with the number of one that was forgotten", () => {
  it.live("is not taken for it", () =>
    Effect.gen(function*() {
      const client = yield* database
      const files = filesOf("a", 4)
      yield* Effect.gen(function*() {
        const first = yield* Bulk.submit("first", BulkSources.fromIterable(files.slice(0, 2)), { chunkSize: 1 })
        yield* Effect.zipRight(first.await, first.forget)
        const second = yield* Bulk.submit("second", BulkSources.fromIterable(files.slice(2)), { chunkSize: 1 })
        assert.strictEqual(second.id, first.id)
        assert.deepInclude(yield* Effect.timeout(second.await, "10 seconds"), { uploaded: 2 })
      }).pipe(Effect.provide(queue(client)))
      yield* Effect.provide(proof(files), sql(client))
    }).pipe(Effect.scoped, Effect.provide(service())))
})

describe("the files of a process", () => {
  it.effect("go one of each job in turn, however many of one wait already", () =>
    Effect.gen(function*() {
      const { one } = yield* Turnstile.make(2)
      const order: Array<string> = []
      const work = (job: number, name: string) =>
        one(job)(Effect.delay(Effect.sync(() => order.push(name)), "1 second"))
      const all = Effect.all([
        Effect.replicateEffect(work(1, "a"), 20, { concurrency: "unbounded" }),
        Effect.delay(Effect.replicateEffect(work(2, "b"), 5, { concurrency: "unbounded" }), "2500 millis")
      ], { concurrency: 2 })
      yield* Effect.fork(all)
      yield* TestClock.adjust("20 seconds")
      assert.lengthOf(order, 25)
      const both = order.slice(order.indexOf("b"), order.lastIndexOf("b") + 1)
      assert.isAtMost(both.length, 10)
    }))
})
