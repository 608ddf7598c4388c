import { assert, describe, it } from "@effect/vitest"
import type * as Libsql from "@libsql/client"
import { Bulk, BulkRunner, BulkSources } from "@stevedore/bulk"
import type { UploadSource } from "@stevedore/core"
import { SandboxLayer } from "@stevedore/testing"
import { Effect, Fiber, Layer, Random } from "effect"
import { database, Life, reached, sources, sql } from "./support/lives.js"
import { proof } from "./support/proof.js"

const upload = { threshold: 25, parts: 3, concurrency: 2 }

const runner = (client: Libsql.Client, life: Life) =>
  Layer.merge(BulkRunner.layer({ files: 3, upload, heartbeat: "1 hour", name: "test" }), Bulk.layerClient).pipe(
    Layer.provideMerge(BulkSources.layer({})),
    Layer.provide(reached(life)),
    Layer.provide(sql(client, life))
  )

/** One process: it submits the job, or finds it, and works on its chunks in order. */
const live = (client: Libsql.Client, life: Life, files: ReadonlyArray<UploadSource>) =>
  Effect.gen(function*() {
    const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 4 })
    for (let n = 0; n < job.chunks; n++) yield* Bulk.runChunk(job.id, n)
  }).pipe(Effect.provide(runner(client, life)))

/** The same until it ends or dies; what is left of it then reaches nobody. */
const lived = (client: Libsql.Client, life: Life, files: ReadonlyArray<UploadSource>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDaemon(live(client, life, files))
    const isOver = Effect.map(Fiber.poll(fiber), (exit) => exit._tag === "Some" || life.isOver)
    yield* Effect.repeat(Effect.zipRight(Effect.sleep("1 millis"), isOver), { until: (over) => over })
    if (life.isOver) yield* Fiber.interruptFork(fiber)
    else yield* Fiber.join(fiber)
  })

/** The same files, uploaded by lives that end after so many events, and one that ends by itself. */
const history = (ends: ReadonlyArray<number>, files = sources(6)) =>
  Effect.gen(function*() {
    const client = yield* database
    yield* Effect.provide(Bulk.migrate, sql(client))
    for (const end of ends) yield* lived(client, new Life(end), files)
    const last = new Life()
    yield* lived(client, last, files)
    yield* Effect.provide(proof(files), sql(client))
    return last.events
  }).pipe(Effect.scoped, Effect.provide(SandboxLayer.memory({ minimumPartSize: 5, recommendedPartSize: 10 })))

describe("a process that dies", () => {
  it.live("anywhere between the manifest and the last outcome leaves each file to be finished once", () =>
    Effect.gen(function*() {
      const events = yield* history([])
      assert.isAbove(events, 50)
      yield* Effect.forEach(Array.from({ length: events }, (_, event) => event), (event) => history([event]), {
        concurrency: 4,
        discard: true
      })
    }))

  it.live("again and again, at random", () =>
    Effect.forEach(Array.from({ length: 40 }, (_, seed) => seed), (seed) =>
      Effect.gen(function*() {
        const ends = yield* Effect.replicateEffect(Random.nextIntBetween(10, 90), 1 + seed % 3)
        yield* history(Array.from(ends))
      }).pipe(Effect.withRandom(Random.make(seed))), { concurrency: 4, discard: true }))
})
