import { assert, describe, it } from "@effect/vitest"
import type * as Libsql from "@libsql/client"
import { Bulk, BulkRunner, BulkSources } from "@stevedore/bulk"
import type { UploadSource } from "@stevedore/core"
import { Effect, Fiber, Layer, Random } from "effect"
import { database, Life, reached, sources, sql } from "./support/lives.js"
import { proof } from "./support/proof.js"
import { service } from "./support/service.js"

/** A file in one PUT, or in parts. */
const ways = { single: { strategy: "single" }, parts: { strategy: "multipart", parts: 2, concurrency: 2 } } as const

type Way = keyof typeof ways

const runner = (client: Libsql.Client, life: Life, way: Way) =>
  Layer.merge(BulkRunner.layer({ files: 3, upload: ways[way], heartbeat: "1 hour", name: "test" }), Bulk.layerClient)
    .pipe(
      Layer.provideMerge(BulkSources.layer({})),
      Layer.provide(reached(life)),
      Layer.provide(sql(client, life))
    )

/** One process: it submits the job, or finds it, and works on its chunks in order. */
const live = (client: Libsql.Client, life: Life, way: Way, files: ReadonlyArray<UploadSource>) =>
  Effect.gen(function*() {
    const job = yield* Bulk.submit("job", BulkSources.fromIterable(files), { chunkSize: 1 })
    for (let n = 0; n < job.chunks; n++) yield* Bulk.runChunk(job.id, n)
  }).pipe(Effect.provide(runner(client, life, way)))

/** The same until it ends or dies; what is left of it then reaches nobody. */
const lived = (client: Libsql.Client, life: Life, way: Way, files: ReadonlyArray<UploadSource>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkDaemon(live(client, life, way, files))
    const isOver = Effect.map(Fiber.poll(fiber), (exit) => exit._tag === "Some" || life.isOver)
    yield* Effect.repeat(Effect.zipRight(Effect.sleep("1 millis"), isOver), { until: (over) => over })
    if (life.isOver) yield* Fiber.interruptFork(fiber)
    else yield* Fiber.join(fiber)
  })

/** The same files, uploaded by lives that end after so many events, and one that ends by itself. */
const history = (way: Way, ends: ReadonlyArray<number>, files = sources(2)) =>
  Effect.gen(function*() {
    const client = yield* database
    for (const end of ends) yield* lived(client, new Life(end), way, files)
    const last = new Life()
    yield* lived(client, last, way, files)
    yield* Effect.provide(proof(files), sql(client))
    return last.events
  }).pipe(Effect.scoped, Effect.provide(service()))

describe("a process that dies", () => {
  for (const way of ["single", "parts"] as const) {
    it.live(
      `anywhere between the manifest and the last outcome leaves each file to be finished once (${way})`,
      () =>
        Effect.gen(function*() {
          const events = yield* history(way, [], sources(1))
          assert.isAbove(events, 25)
          yield* Effect.forEach(
            Array.from({ length: events }, (_, event) => event),
            (event) => history(way, [event], sources(1)),
            { concurrency: 4, discard: true }
          )
        }),
      180_000
    )

    it.live(
      `again and again, at random, too (${way})`,
      () =>
        Effect.forEach(Array.from({ length: 6 }, (_, seed) => seed), (seed) =>
          Effect.gen(function*() {
            const ends = yield* Effect.replicateEffect(Random.nextIntBetween(10, 60), 1 + seed % 3)
            yield* history(way, Array.from(ends))
          }).pipe(Effect.withRandom(Random.make(seed))), { concurrency: 4, discard: true }),
      180_000
    )
  }
})
