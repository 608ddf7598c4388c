import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { Cause, Context, Effect, Exit, Fiber, Layer, Logger, Option, Stream, TestClock } from "effect"
import { laws, MINIMUM } from "../../testing/test/support/objectStoreLaws.js"
import { runs } from "../../testing/test/support/runs.js"
import * as ObjectStore from "../src/ObjectStore.js"
import * as SqlObjectStore from "../src/SqlObjectStore.js"
import { Life } from "./support/life.js"
import { database, databaseIn } from "./support/sqlite.js"

const bytes = (text: string) => Stream.make(new TextEncoder().encode(text))

const opened = (directory: string, life = new Life()) =>
  Layer.build(
    Layer.provideMerge(
      SqlObjectStore.layer({ directory: `${directory}/store`, minimumPartSize: 1 }),
      databaseIn(`${directory}/index.db`)
    )
  ).pipe(
    Effect.provide(Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => life.through(fs))
    )),
    Effect.map((context) => ({
      store: Context.get(context, ObjectStore.ObjectStore),
      sql: Context.get(context, SqlClient.SqlClient)
    }))
  )

/** What a life was told that it has done, in the order in which it was told. */
interface Told {
  readonly acknowledged: Array<string>
  uploadId: string
}

const script = (directory: string, life: Life, told: Told) =>
  Effect.gen(function*() {
    const { store } = yield* opened(directory, life)
    const step = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
      Effect.tap(effect, () => Effect.sync(() => told.acknowledged.push(name)))
    yield* step("small", store.put("files/small", bytes("first"), { contentType: "text/plain" }))
    const uploadId = yield* store.createUpload("files/large")
    told.uploadId = uploadId
    const one = yield* step("one", store.putPart("files/large", uploadId, 1, bytes("abc")))
    const two = yield* step("two", store.putPart("files/large", uploadId, 2, bytes("def")))
    yield* step("large", store.completeUpload("files/large", uploadId, [one, two]))
    yield* step("again", store.put("files/small", bytes("second")))
    yield* step("removed", store.remove("files/small"))
  })

const contentOf = (store: ObjectStore.ObjectStoreService, key: string) =>
  Effect.option(store.get(key).pipe(Stream.decodeText(), Stream.mkString))

const within = (
  run: (
    folder: string,
    fs: FileSystem.FileSystem
  ) => Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-sql-store-" })
    yield* fs.makeDirectory(`${folder}/data`)
    yield* run(`${folder}/data`, fs)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

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

laws(
  "a directory, with its index in SQLite",
  Layer.unwrapScoped(Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-object-store-" })
    return SqlObjectStore.layer({ directory: `${folder}/store`, minimumPartSize: MINIMUM })
  })).pipe(Layer.provide([NodeContext.layer, database]), Layer.orDie)
)

describe("a store with its index in SQLite", () => {
  it.live(
    "has what it acknowledged, whole, wherever its process died",
    () =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const whole = new Life()
          yield* fs.makeDirectory(`${folder}/whole`)
          yield* script(`${folder}/whole`, whole, { acknowledged: [], uploadId: "" })
          assert.isAbove(whole.events, 20)
          for (let until = 6; until <= whole.events; until += runs(6) === 6 ? 1 : 6) {
            const directory = `${folder}/${until}`
            yield* fs.makeDirectory(directory)
            const told: Told = { acknowledged: [], uploadId: "" }
            const life = new Life(until)
            // the tables are there: a transaction in this process would outlive the life
            yield* Effect.scoped(opened(directory))
            const dying = yield* Effect.forkDaemon(Effect.exit(script(directory, life, told)))
            yield* Effect.repeat(Effect.zipRight(Effect.sleep(1), Fiber.poll(dying)), {
              until: (exit) => Option.isSome(exit) || life.events > until
            })
            const when = `died at event ${until}, after ${told.acknowledged.join(", ")}`
            const { store: heir } = yield* opened(directory)
            const has = (step: string) => told.acknowledged.includes(step)
            const small = Option.getOrElse(yield* contentOf(heir, "files/small"), () => "none")
            assert.include(
              has("removed")
                ? ["none"]
                : has("again")
                ? ["second", "none"]
                : has("small")
                ? ["first", "second"]
                : ["first", "none"],
              small,
              when
            )
            const large = Option.getOrElse(yield* contentOf(heir, "files/large"), () => "none")
            assert.include(has("large") ? ["abcdef"] : ["abcdef", "none"], large, when)
            if (large === "none" && has("two")) {
              const parts = yield* heir.parts("files/large", told.uploadId)
              yield* heir.completeUpload("files/large", told.uploadId, parts)
              assert.deepStrictEqual(yield* contentOf(heir, "files/large"), Option.some("abcdef"), when)
            }
            if (large === "abcdef") assert.deepStrictEqual(yield* heir.opened("files/large"), [], when)
            for (const uploadId of yield* heir.opened("files/large")) yield* heir.abortUpload("files/large", uploadId)
            yield* heir.remove("files/small")
            yield* heir.remove("files/large")
            // what was being written, or freed, is all that may be left
            assert.isAtMost((yield* fs.readDirectory(`${directory}/store/blobs`)).length, 1, when)
          }
        })
      ),
    20_000
  )

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
})
