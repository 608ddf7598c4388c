import { SqlClient } from "@effect/sql/SqlClient"
import { Bulk, BulkRunner, BulkSources } from "@stevedore/bulk"
import type { UploadSource } from "@stevedore/core"
import { ObjectStorage } from "@stevedore/core"
import { Sandbox, VirtualTime } from "@stevedore/testing"
import type { Duration } from "effect"
import { Effect, Fiber, Layer, Random, Stream } from "effect"
import { deepStrictEqual } from "node:assert/strict"
import { Life, reached, sources, sql } from "./lives.js"
import { service } from "./service.js"
import { withSkew } from "./skew.js"

/** A file in one PUT, or in parts. */
const ways = { single: { strategy: "single" }, parts: { strategy: "multipart", parts: 2, concurrency: 2 } } as const

export type Way = keyof typeof ways

/** A process: how it sends files, how it ends, and what is odd about its machine. */
export interface Runner {
  readonly way: Way
  readonly life: Life
  /** How far its clock is ahead. */
  readonly skewMillis?: number
  /** How long each of its PUTs takes more than those of others. */
  readonly slow?: Duration.DurationInput
  /** In which order it is given the chunks. */
  readonly order?: (chunks: ReadonlyArray<number>) => ReadonlyArray<number>
}

const delayed = (by: Duration.DurationInput) =>
  Layer.effect(
    ObjectStorage.ObjectStorage,
    Effect.map(ObjectStorage.ObjectStorage, (storage): ObjectStorage.Service => ({
      ...storage,
      put: (request) => Effect.delay(storage.put(request), by)
    }))
  )

/** What a process is made of. */
export const runner = (client: SqlClient, { life, slow = 0, way }: Runner) =>
  Layer.merge(BulkRunner.layer({ files: 3, upload: ways[way], heartbeat: "500 millis" }), Bulk.layerClient)
    .pipe(
      Layer.provideMerge(BulkSources.layer({})),
      Layer.provide(delayed(slow)),
      Layer.provide(reached(life)),
      Layer.provide(sql(client, life))
    )

export interface Job {
  readonly name: string
  readonly files: ReadonlyArray<UploadSource>
  readonly chunkSize: number
}

/** One process: it submits the job, or finds it, and works on its chunks. */
const live = (client: SqlClient, job: Job, one: Runner) =>
  Effect.gen(function*() {
    const { chunks, id } = yield* Bulk.submit(job.name, BulkSources.fromIterable(job.files), job)
    const numbers = Array.from({ length: chunks }, (_, n) => n)
    for (const n of one.order?.(numbers) ?? numbers) yield* Bulk.runChunk(id, n)
  }).pipe(Effect.provide(runner(client, one)), withSkew(one.skewMillis ?? 0))

/** The same until it ends, dies, or is frozen; what is left of a dead one then reaches nobody. */
export const lived = (client: SqlClient, job: Job, one: Runner) =>
  Effect.gen(function*() {
    const { life } = one
    const fiber = yield* Effect.forkDaemon(live(client, job, one))
    yield* Effect.raceFirst(Fiber.join(fiber), life.stopped)
    if (life.isOver) yield* Fiber.interruptFork(fiber)
    return fiber
  })

/** What was replaced sends the same bytes once more until it hears of it, and nobody can stop it. */
const whenReplaced: ReadonlyArray<string> = ["PutAfterFinalized", "OverlappingAttempts", "WrongEtag"]

/**
 * What has to hold whatever happened: each file is there once, with its bytes; the sandbox saw no breach that could be
 * avoided; the sums are right, and the job leaves nothing behind.
 */
export const proven = (client: SqlClient, { files, name }: Job, replaced: boolean) =>
  Effect.gen(function*() {
    const job = yield* Bulk.get(name)
    const failures = Array.from(yield* Stream.runCollect(job.failures), ({ error, path }) => [path, error._tag])
    deepStrictEqual(failures, [])
    const { chunks, failed, uploaded } = yield* job.status
    deepStrictEqual({ uploaded, failed, chunks }, { uploaded: files.length, failed: 0, chunks: 0 })
    const there = (yield* Sandbox.files).map(({ name }) => String(name)).sort()
    deepStrictEqual(there, files.map(({ name }) => name).sort())
    yield* Effect.forEach(files, Sandbox.expectStored, { discard: true })
    const { breaches } = yield* Sandbox.report
    deepStrictEqual(breaches.filter(({ rule }) => !replaced || !whenReplaced.includes(rule)), [])
    const database = yield* SqlClient
    deepStrictEqual(
      yield* database`select seq from bulk_ledger where job = ${job.id}
          union all select seq from bulk_receipt where job = ${job.id}`,
      []
    )
    yield* job.cancel
    yield* job.forget
  }).pipe(Effect.provide(Layer.provideMerge(Bulk.layerClient, sql(client))))

const ended = (client: SqlClient, job: Job, way: Way) =>
  Effect.gen(function*() {
    const last = new Life()
    yield* lived(client, job, { way, life: last })
    return last.events
  })

/** The same files, uploaded by processes that end one after another, and one that ends by itself. */
export const oneAfterAnother = (client: SqlClient, way: Way, lives: ReadonlyArray<Life>, files = sources(2)) =>
  Effect.gen(function*() {
    const job: Job = { name: "one after another", files, chunkSize: 1 }
    const frozen: Array<Fiber.Fiber<unknown, unknown>> = []
    for (const life of lives) {
      const fiber = yield* lived(client, job, { way, life })
      if (life.state === "frozen") frozen.push(fiber)
    }
    const events = yield* ended(client, job, way)
    for (const life of lives) life.wake()
    yield* Effect.forEach(frozen, Fiber.join, { discard: true })
    yield* proven(client, job, frozen.length > 0)
    return events
  }).pipe(VirtualTime.run, Effect.provide(service()))

const between = (least: number, most: number) => Random.nextIntBetween(least, most + 1)

const hour = 3_600_000

const randomRunner = Effect.gen(function*() {
  const ends = yield* between(0, 3)
  const seed = yield* between(0, 1_000_000)
  return {
    way: (yield* Random.nextBoolean) ? "single" : "parts",
    // a third ends by itself
    life: ends < 1 ? new Life() : new Life(yield* between(5, 120), ends === 1 ? "frozen" : "over"),
    skewMillis: (yield* between(-2, 2)) * hour / 2,
    slow: (yield* between(0, 3)) === 0 ? (yield* between(1, 3000)) : 0,
    begins: yield* between(0, 1500),
    sleeps: yield* between(1, 30_000),
    order: (chunks: ReadonlyArray<number>) =>
      chunks.map((n) => ({ n, at: (n * 7919 + seed) % 31 })).sort((one, other) => one.at - other.at).map(({ n }) => n)
  } satisfies Runner & { readonly begins: number; readonly sleeps: number }
})

/**
 * A history that a seed names: up to three processes at once, whose machines have clocks that are up to an hour wrong and
 * may be slow, get each chunk, so that it is delivered several times, also at once. Some die, some stand still and go on
 * when others have taken over. One more ends by itself. Gives what the processes did not come to.
 */
export const atOnce = (client: SqlClient, seed: number) =>
  Effect.gen(function*() {
    const job: Job = { name: `seed ${seed}`, files: sources(yield* between(1, 5)), chunkSize: yield* between(1, 3) }
    const runners = yield* Effect.replicateEffect(randomRunner, yield* between(1, 3))
    const working = yield* Effect.forEach(runners, (one) =>
      Effect.gen(function*() {
        yield* Effect.sleep(one.begins)
        const fiber = yield* lived(client, job, one)
        if (one.life.state !== "frozen") return
        yield* Effect.sleep(one.sleeps)
        one.life.wake()
        // who was frozen in its submit for too long ends with the error, and the last process has its work
        yield* Effect.catchTag(Fiber.join(fiber), "SqlError", () => Effect.void)
      }).pipe(Effect.fork))
    // all but those that sleep for long
    yield* Effect.sleep(yield* between(0, 20_000))
    yield* ended(client, job, "single")
    yield* Effect.forEach(working, Fiber.join, { discard: true })
    // a chunk that was taken from the last one
    yield* ended(client, job, "parts")
    yield* proven(client, job, true)
    return runners.flatMap(({ life: { endedAt } }) => endedAt === undefined ? [] : [endedAt])
  }).pipe(VirtualTime.run, Effect.provide(service()), Effect.withRandom(Random.make(seed)))
