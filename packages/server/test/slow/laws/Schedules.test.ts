import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Random, Redacted, Scope, Stream, TestClock } from "effect"
import type { Principal } from "../../../src/Authorize.js"
import * as FileStore from "../../../src/FileStore.js"
import * as FileTable from "../../../src/FileTable.js"
import * as FileTableMemory from "../../../src/FileTableMemory.js"
import * as Hooks from "../../../src/Hooks.js"
import * as ObjectStore from "../../../src/ObjectStore.js"
import * as BlobStore from "../../../src/parts/blobStore.js"
import * as StorageRefused from "../../../src/StorageRefused.js"
import * as Uploads from "../../../src/Uploads.js"
import { receiving } from "../../support/fileTableLaws.js"
import { Life } from "../../support/life.js"

// Instances that die wherever they are, over one table and one store, in an order that a seed decides. `SERVICE_SEEDS` is the
// number of orders, and `SERVICE_SEED` the first.
const seeds = Number(process.env["SERVICE_SEEDS"] ?? 8)
const firstSeed = Number(process.env["SERVICE_SEED"] ?? 1)

const FILES = 4
const ROUNDS = 60

const ann: Principal = { tenant: "acme", id: "ann", name: "Ann", scopes: ["read", "write"] }

const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

const instance = (table: FileTable.FileTableService, store: FileStore.FileStoreService, life: Life) =>
  Effect.flatMap(Scope.make(), (scope) =>
    Uploads.make().pipe(
      Effect.provideService(FileTable.FileTable, life.through(table)),
      Effect.provideService(FileStore.FileStore, life.through(store)),
      Effect.provideService(Hooks.Hooks, Hooks.none),
      Scope.extend(scope)
    ))

const makeStore = (below: (limit: number) => Effect.Effect<number>): FileStore.FileStoreService => {
  const store = FileStore.signed(ObjectStore.make(BlobStore.memory, { minimumPartSize: 1 }), {
    credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
    origin: "http://storage.test",
    bucket: "files"
  })
  const away = StorageRefused.make("ServiceUnavailable")
  return {
    ...store,
    // now and then it does not answer, and has or has not done what it was asked for
    completeUpload: (...asked) =>
      Effect.flatMap(
        below(8),
        (roll) =>
          roll === 0
            ? away
            : Effect.flatMap(store.completeUpload(...asked), (done) => roll === 1 ? away : Effect.succeed(done))
      )
  }
}

/** What a client has sent and lists: the last file lacks a part, which its client lists nevertheless. */
const sent = (uploads: Uploads.UploadsService, store: FileStore.FileStoreService, index: number) =>
  Effect.gen(function*() {
    const declared = { name: `file-${index}`, type: undefined, size: 6 }
    if (index % 2 === 0) {
      const { fileId } = yield* uploads.initiate(ann, declared)
      const key = `files/acme/${fileId}`
      yield* store.put(key, bytes("abcdef"))
      return { id: fileId, key, listed: undefined, isWhole: true }
    }
    const { fileId, uploadId } = yield* uploads.initiateLarge(ann, declared, 2)
    const key = `files/acme/${fileId}`
    const first = yield* store.putPart(key, uploadId, 1, bytes("abc"))
    const isWhole = index < FILES - 1
    const second = isWhole ? yield* store.putPart(key, uploadId, 2, bytes("def")) : { partNumber: 2, etag: "\"lost\"" }
    return { id: fileId, key, listed: { uploadId, parts: [first, second] }, isWhole }
  })

const schedule = (seed: number) =>
  Effect.gen(function*() {
    const random = Random.make(seed)
    const below = (limit: number) => random.nextIntBetween(0, limit)
    const table = yield* receiving(FileTableMemory.make())
    const store = makeStore(below)
    const healthy = yield* instance(table, store, new Life())
    const files = yield* Effect.forEach(
      Array.from({ length: FILES }, (_, index) => index),
      (index) => sent(healthy, store, index)
    )
    const dying = Effect.flatMap(below(40), (until) => instance(table, store, new Life(until)))
    const asked: Array<readonly [index: number, Fiber.RuntimeFiber<FileTable.FileRow, unknown>]> = []

    for (let round = 0; round < ROUNDS; round++) {
      const roll = yield* below(10)
      if (roll < 6) {
        const index = yield* below(FILES)
        const file = files[index]
        if (file === undefined) continue
        const uploads = yield* roll === 0 ? Effect.succeed(healthy) : dying
        asked.push([index, yield* Effect.forkDaemon(uploads.complete(ann, file.id, file.listed))])
      } else if (roll === 6) yield* Effect.forkDaemon(Effect.flatMap(dying, ({ sweep }) => sweep))
      for (let turns = yield* below(6); turns > 0; turns--) yield* Effect.yieldNow()
      if (roll > 6) yield* TestClock.adjust(`${yield* below(12)} seconds`)
    }

    // whoever is left looks after everything, and each client asks until it has an answer
    yield* TestClock.adjust("6 minutes")
    yield* healthy.sweep
    for (const [index, { id, isWhole, listed }] of files.entries()) {
      if (!isWhole) continue
      const fiber = yield* Effect.forkDaemon(Effect.retry(healthy.complete(ann, id, listed), { times: 20 }))
      yield* TestClock.adjust("10 minutes")
      asked.push([index, fiber])
    }
    yield* TestClock.adjust("25 hours")
    yield* healthy.sweep
    return { files, table, store, asked }
  })

describe("instances that die in any order", () => {
  it.effect(
    "end with each file once, whole, and one event, and nothing is left of what was never whole",
    () =>
      Effect.forEach(
        Array.from({ length: seeds }, (_, index) => firstSeed + index),
        (seed) =>
          Effect.gen(function*() {
            const { asked, files, store, table } = yield* schedule(seed)
            const of = `seed ${seed}`
            const events = yield* table.events(60_000, 1000, FileTable.KINDS)
            for (const [index, { id, isWhole, key }] of files.entries()) {
              const answers = yield* Effect.forEach(
                asked.filter(([at]) => at === index),
                ([, fiber]) =>
                  Effect.map(
                    Fiber.poll(fiber),
                    Option.flatMap(Exit.match({
                      onFailure: () => Option.none(),
                      onSuccess: (row) => Option.some(Uploads.toRecord(row))
                    }))
                  )
              )
              const records = Array.from(
                new Set(answers.flatMap(Option.toArray).map((record) => JSON.stringify(record)))
              )
              assert.lengthOf(records, isWhole ? 1 : 0, of)
              const row = yield* Effect.flatten(table.find("acme", id))
              assert.strictEqual(row.state, isWhole ? "finalized" : "removed", of)
              const size = yield* Effect.option(Effect.map(store.head(key), (object) => object.size))
              assert.deepStrictEqual(size, isWhole ? Option.some(6) : Option.none(), of)
              assert.deepStrictEqual(
                events.filter(({ file }) => file.id === id).map(({ kind }) => kind),
                [isWhole ? "completed" : "removed"],
                of
              )
              assert.deepStrictEqual(yield* store.opened(key), [], of)
            }
          }),
        { discard: true }
      ),
    300_000
  )
})
