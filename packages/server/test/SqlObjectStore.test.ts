import { type FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Logger, Option, TestClock } from "effect"
import * as SqlDatabase from "../src/SqlDatabase.js"
import { Life } from "./support/life.js"
import { bytes, contentOf, opened, within } from "./support/sqlObjectStore.js"

const json = (value: unknown) => JSON.stringify(value)

/** What the version before kept of an object of one blob, and of an upload with a part. */
const records = (fs: FileSystem.FileSystem, store: string) =>
  Effect.gen(function*() {
    for (const folder of ["blobs", "objects", "uploads/one", "uploads/over"]) {
      yield* fs.makeDirectory(`${store}/${folder}`, { recursive: true })
    }
    const object = (key: string, blob: string) =>
      json({ key, size: 5, etag: `"${blob}"`, lastModified: 1, blobs: [{ name: blob, size: 5 }] })
    const part = (blob: string) => json({ partNumber: 1, etag: "\"p\"", blob: { name: blob, size: 5 } })
    for (const name of ["a", "b", "c", "d"]) yield* fs.writeFileString(`${store}/blobs/${name}`, `hell${name}`)
    yield* fs.writeFileString(`${store}/objects/files%2Ft%2Fa.json`, object("files/t/a", "a"))
    yield* fs.writeFileString(`${store}/objects/files%2Ft%2Fempty.json`, "")
    yield* fs.writeFileString(`${store}/objects/notes.json`, "{}")
    yield* fs.writeFileString(`${store}/uploads/one/upload.json`, json({ key: "files/t/b" }))
    yield* fs.writeFileString(`${store}/uploads/one/1.json`, part("b"))
    yield* fs.writeFileString(`${store}/uploads/over/upload.json`, json({ key: "files/t/a" }))
    yield* fs.writeFileString(`${store}/uploads/over/1.json`, part("a"))
  })

const logging = (lines: Array<string>) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${Cause.pretty(cause)}`))
  )

describe("a store with its index in SQLite", () => {
  it.effect("removes what no record names an hour after it was written, and nothing else", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("119 minutes")
        const { store } = yield* opened(folder)
        yield* store.put("files/t/kept", bytes("hello"))
        const uploadId = yield* store.createUpload("files/t/open")
        yield* store.putPart("files/t/open", uploadId, 1, bytes("part"))
        const blobs = `${folder}/store/blobs`
        const named = yield* fs.readDirectory(blobs)
        for (const name of [...named, "old", "young"]) {
          yield* fs.writeFileString(`${blobs}/${name}`, "", { flag: "a" })
          yield* fs.utimes(`${blobs}/${name}`, 0, name === "young" ? 3900 : 3600)
        }
        const left = Effect.map(fs.readDirectory(blobs), (names) => [...names].sort())
        assert.deepStrictEqual(yield* left, [...named, "old", "young"].sort())
        yield* TestClock.adjust("1 minute")
        yield* Effect.eventually(Effect.filterOrFail(left, (names) => !names.includes("old")))
        assert.deepStrictEqual(yield* left, [...named, "young"].sort())
        assert.deepStrictEqual(yield* contentOf(store, "files/t/kept"), Option.some("hello"))
      })
    ))

  it.effect("removes nothing while a record cannot be read: what it names is in no other", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        yield* records(fs, `${folder}/store`)
        for (const name of ["a", "b", "c", "d"]) yield* fs.utimes(`${folder}/store/blobs/${name}`, 0, 0)
        yield* TestClock.adjust("1 day")
        const { store } = yield* Effect.provide(opened(folder), logging([]))
        yield* fs.remove(`${folder}/store/blobs/a`)
        yield* TestClock.adjust("1 minute")
        yield* Effect.eventually(Effect.filterOrFail(
          store.unreadable ?? Effect.succeed([]),
          (keys) => json(keys) === json(["files/t/a", "files/t/empty"])
        ))
        assert.deepStrictEqual((yield* fs.readDirectory(`${folder}/store/blobs`)).sort(), ["b", "c", "d"])
      })
    ))

  it.effect("takes over what the version before has kept, and of it one that cannot be read costs only itself", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        const lines: Array<string> = []
        yield* records(fs, `${folder}/store`)
        for (const _ of ["first", "second"]) {
          const { store } = yield* Effect.provide(opened(folder), logging(lines))
          assert.deepStrictEqual(yield* contentOf(store, "files/t/a"), Option.some("hella"))
          assert.deepStrictEqual(yield* store.opened("files/t/b"), ["one"])
          assert.deepStrictEqual((yield* store.parts("files/t/b", "one")).map(({ size }) => size), [5])
          assert.deepStrictEqual(yield* store.opened("files/t/a"), [])
          assert.strictEqual((yield* Effect.flip(store.head("files/t/empty"))).code, "ObjectUnreadable")
          assert.deepStrictEqual(yield* store.unreadable ?? Effect.succeed([]), ["files/t/empty"])
        }
        assert.deepStrictEqual((yield* fs.readDirectory(`${folder}/store/blobs`)).sort(), ["a", "b", "c", "d"])
        for (const named of ["empty.json", "notes.json", "The object files/t/empty cannot be read"]) {
          assert.include(lines.join("\n"), named)
        }
        const { store } = yield* opened(folder)
        yield* store.remove("files/t/empty")
        assert.strictEqual((yield* Effect.flip(store.head("files/t/empty"))).code, "NoSuchKey")
      })
    ))

  it.effect.each(["gone", "cut", "record"] as const)(
    "tells that an object cannot be read: %s",
    (how) =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const { sql, store } = yield* opened(folder)
          yield* store.put("files/t/kept", bytes("hello"))
          const [first = ""] = yield* fs.readDirectory(`${folder}/store/blobs`)
          yield* store.put("files/t/lost", bytes("other"))
          const [name = ""] = (yield* fs.readDirectory(`${folder}/store/blobs`)).filter((one) => one !== first)
          const place = `${folder}/store/blobs/${name}`
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
