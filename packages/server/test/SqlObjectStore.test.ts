import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Fiber, Option, Schema, TestClock, TestServices } from "effect"
import * as SqlDatabase from "../src/SqlDatabase.js"
import { Life } from "./support/life.js"
import { bytes, contentOf, opened, within } from "./support/sqlObjectStore.js"

const json = (value: unknown) => JSON.stringify(value)

describe("a store with its index in SQLite", () => {
  it.effect("removes what no record named an hour ago nor does now, whatever the clock says, and nothing else", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        const { store } = yield* opened(folder)
        yield* store.put("files/t/kept", bytes("hello"))
        const uploadId = yield* store.createUpload("files/t/open")
        yield* store.putPart("files/t/open", uploadId, 1, bytes("part"))
        const blobs = `${folder}/store/bytes`
        const named = yield* fs.readDirectory(blobs)
        yield* fs.writeFileString(`${blobs}/old`, "")
        yield* fs.utimes(`${blobs}/old`, 0, 0)
        const left = Effect.map(fs.readDirectory(blobs), (names) => [...names].sort())
        yield* TestClock.adjust("1 minute")
        yield* TestServices.provideLive(Effect.sleep("300 millis"))
        yield* fs.writeFileString(`${blobs}/young`, "")
        yield* fs.utimes(`${blobs}/young`, 0, 0)
        assert.deepStrictEqual(yield* left, [...named, "old", "young"].sort())
        yield* TestClock.adjust("1 hour")
        yield* Effect.eventually(
          Effect.delay(
            Effect.filterOrFail(left, (names) => !names.includes("old")),
            "10 millis"
          ).pipe(TestServices.provideLive)
        )
        assert.deepStrictEqual(yield* left, [...named, "young"].sort())
        assert.deepStrictEqual(yield* contentOf(store, "files/t/kept"), Option.some("hello"))
      })
    ))

  it.effect("removes nothing while a record cannot be read: what it names is in no other", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        const { sql, store } = yield* opened(folder)
        yield* Effect.forEach(["a", "empty"], (name) => store.put(`files/t/${name}`, bytes("hello")))
        const blobs = `${folder}/store/bytes`
        yield* sql`update stevedore_object set blobs = '' where key = 'files/t/empty'`
        const names = yield* fs.readDirectory(blobs)
        yield* fs.writeFileString(`${blobs}/orphan`, "hello")
        for (const name of [...names, "orphan"]) yield* fs.utimes(`${blobs}/${name}`, 0, 0)
        const unreadable = store.unreadable ?? Effect.succeed([])
        yield* TestClock.adjust("1 day")
        yield* Effect.eventually(Effect.filterOrFail(unreadable, (keys) => json(keys) === json(["files/t/empty"])))
        assert.deepStrictEqual((yield* fs.readDirectory(blobs)).sort(), [...names, "orphan"].sort())
      })
    ))

  it.effect.each(["gone", "cut", "record"] as const)(
    "tells that an object cannot be read: %s",
    (how) =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const { sql, store } = yield* opened(folder)
          yield* store.put("files/t/kept", bytes("hello"))
          const [first = ""] = yield* fs.readDirectory(`${folder}/store/bytes`)
          yield* store.put("files/t/lost", bytes("other"))
          const [name = ""] = (yield* fs.readDirectory(`${folder}/store/bytes`)).filter((one) => one !== first)
          const place = `${folder}/store/bytes/${name}`
          yield* how === "gone"
            ? fs.remove(place)
            : how === "cut"
            ? fs.truncate(place, 3)
            : sql`update stevedore_object set blobs = '[{' where key = 'files/t/lost'`
          const { code, status } = yield* Effect.flip(store.head("files/t/lost"))
          assert.deepStrictEqual([code, status], ["ObjectUnreadable", 500])
          assert.strictEqual((yield* store.head("files/t/kept")).size, 5)
          // the length of each is looked at only when it is asked for
          const found = how === "cut" ? [] : ["files/t/lost"]
          yield* TestClock.adjust("1 minute")
          yield* Effect.eventually(Effect.filterOrFail(
            store.unreadable ?? Effect.succeed([]),
            (keys) => json(keys) === json(found)
          ))
          yield* store.remove("files/t/lost")
          assert.strictEqual((yield* Effect.flip(store.head("files/t/lost"))).code, "NoSuchKey")
        })
      )
  )

  it.effect.prop(
    "seals what came in parts only if it lies there as it came",
    [
      Schema.Array(Schema.String.pipe(Schema.minLength(1))).pipe(Schema.minItems(1), Schema.maxItems(4)),
      Schema.Boolean
    ],
    ([parts, isFlipped]) =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const { store } = yield* opened(folder)
          const uploadId = yield* store.createUpload("files/t/parts")
          const etags = yield* Effect.forEach(
            parts,
            (part, index) =>
              Effect.map(store.putPart("files/t/parts", uploadId, index + 1, bytes(part)), ({ etag }) => ({
                partNumber: index + 1,
                etag
              }))
          )
          const [name = ""] = yield* fs.readDirectory(`${folder}/store/bytes`)
          const place = `${folder}/store/bytes/${name}`
          const content = yield* fs.readFile(place)
          if (isFlipped) yield* fs.writeFile(place, content.map((byte, index) => index === 0 ? byte ^ 1 : byte))
          yield* store.completeUpload("files/t/parts", uploadId, etags)
          const sealed = yield* Effect.either(store.seal("files/t/parts"))
          assert.strictEqual(Either.isLeft(sealed) ? sealed.left.code : "sealed", isFlipped ? "BadDigest" : "sealed")
        })
      ),
    { fastCheck: { numRuns: 8 } }
  )

  it.effect("reads none of its objects at its start", () =>
    within((folder) =>
      Effect.gen(function*() {
        const { sql } = yield* opened(folder)
        yield* sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10000)
          insert into stevedore_object (key, size, etag, last_modified, blobs)
          select 'files/t/' || n, 5, '"e"', 0, 'no list' from numbers`
        const life = new Life()
        yield* opened(folder, life)
        assert.isBelow(life.events, 20)
      })
    ))

  it.live("says so if it cannot write", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${folder}/store`, "")
        assert.isTrue(Exit.isFailure(yield* Effect.exit(opened(folder))))
      })
    ))

  it.scopedLive("has all PUTs that come at once wait for the disk at once, and tells nobody before", () =>
    within((folder) =>
      Effect.gen(function*() {
        const disk = yield* Effect.makeLatch()
        let waiting = 0
        const lasting = Effect.zipRight(Effect.sync(() => void waiting++), disk.await)
        const { store } = yield* Effect.provideService(opened(folder), SqlDatabase.Lasting, lasting)
        const puts = yield* Effect.fork(Effect.forEach(
          Array.from({ length: 20 }, (_, index) => `files/t/${index}`),
          (key) => store.put(key, new TextEncoder().encode("hello")),
          { concurrency: "unbounded" }
        ))
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => waiting === 20 })
        assert.isTrue(Option.isNone(yield* Fiber.poll(puts)))
        yield* disk.open
        assert.lengthOf(yield* Fiber.join(puts), 20)
      })
    ))
})
