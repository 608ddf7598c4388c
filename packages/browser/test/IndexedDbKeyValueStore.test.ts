import { KeyValueStore } from "@effect/platform"
import { assert, describe, it, vi } from "@effect/vitest"
import { IndexedDbKeyValueStore } from "@stevedore/browser"
import { Effect, Exit, Fiber, Option, TestClock } from "effect"
import "fake-indexeddb/auto"
import * as Databases from "../src/ledger/database.js"
import * as Store from "../src/ledger/store.js"
import { settled } from "./fixtures/fakePage.js"

const named = (database: string) => IndexedDbKeyValueStore.layer({ database })

/** A database that another tab deletes and does not close: what opens it has to wait for that. */
const deletedOnlyWhenFreed = (database: string) =>
  Effect.async<Effect.Effect<void>>((resume) => {
    const request = indexedDB.open(database, 1)
    request.onsuccess = () => {
      const deleting = indexedDB.deleteDatabase(database)
      const freed = Effect.async<void>((resume) => {
        deleting.onsuccess = () => resume(Effect.void)
        request.result.close()
      })
      resume(Effect.succeed(Effect.zipRight(freed, settled)))
    }
  })

/** How many connections have been closed, the other tab's own among them. */
const closings = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(IDBDatabase.prototype, "close")),
    (spy) => Effect.sync(() => spy.mockRestore())
  ),
  (spy) => () => spy.mock.calls.length
)

/** The connections that have been opened, in their order. */
const openings = Effect.gen(function*() {
  const opened: Array<IDBDatabase> = []
  const { open } = indexedDB
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      vi.spyOn(indexedDB, "open").mockImplementation((name, version) => {
        const request = open.call(indexedDB, name, version)
        request.addEventListener("success", () => opened.push(request.result))
        return request
      })
    ),
    (spy) => Effect.sync(() => spy.mockRestore())
  )
  return () => opened
})

describe("IndexedDbKeyValueStore", () => {
  it.effect("keeps a value for the next opening of the database until it is removed", () =>
    Effect.gen(function*() {
      const write = Effect.flatMap(KeyValueStore.KeyValueStore, (store) => store.set("theme", "dark"))
      yield* Effect.provide(write, named("lasting"))
      yield* Effect.gen(function*() {
        const store = yield* KeyValueStore.KeyValueStore
        assert.deepStrictEqual(yield* store.get("theme"), Option.some("dark"))
        assert.strictEqual(yield* store.size, 1)
        yield* store.remove("theme")
        assert.deepStrictEqual(yield* store.get("theme"), Option.none())
      }).pipe(Effect.provide(named("lasting")))
    }))

  it.effect("reads bytes as text, and text as bytes", () =>
    Effect.gen(function*() {
      const store = yield* KeyValueStore.KeyValueStore
      yield* store.set("bytes", new TextEncoder().encode("hello"))
      yield* store.set("text", "hello")
      assert.deepStrictEqual(yield* store.get("bytes"), Option.some("hello"))
      for (const key of ["bytes", "text"]) {
        assert.deepStrictEqual(yield* store.getUint8Array(key), Option.some(new TextEncoder().encode("hello")))
      }
      yield* store.clear
      assert.isTrue(yield* store.isEmpty)
    }).pipe(Effect.provide(named("kinds"))))

  it.scoped.each([
    { name: "SecurityError", reason: "PermissionDenied" },
    { name: "NotAllowedError", reason: "PermissionDenied" },
    { name: "QuotaExceededError", reason: "Unknown" }
  ])(
    "a failure names the key, the operation and what the browser said: %o",
    ({ name, reason }) =>
      Effect.gen(function*() {
        yield* Effect.acquireRelease(
          Effect.sync(() =>
            vi.spyOn(indexedDB, "open").mockImplementation(() => {
              throw new DOMException("", name)
            })
          ),
          (spy) => Effect.sync(() => spy.mockRestore())
        )
        const store = yield* KeyValueStore.KeyValueStore
        const error = yield* Effect.flip(store.remove("theme"))
        assert.strictEqual(error.message, `${reason}: KeyValueStore.remove (theme): ${name}`)
      }).pipe(Effect.provide(named("denied")))
  )

  it.scoped("removeAll removes the keys below a prefix, and no others", () =>
    Effect.gen(function*() {
      const database = yield* Databases.make("prefixes")
      const store = Store.over(database)
      yield* Effect.forEach(["a/1", "a/2", "a", "a0", "ab/1"], (key) => store.set(key, key))
      yield* Store.removeAll(database, "a")
      const left = yield* Effect.filter(["a/1", "a/2", "a", "a0", "ab/1"], store.has)
      assert.deepStrictEqual(left, ["a", "a0", "ab/1"])
    }))

  it.effect("opens its database again after another tab deletes it", () =>
    Effect.gen(function*() {
      const store = yield* KeyValueStore.KeyValueStore
      yield* store.set("a", "1")
      yield* Effect.promise(() =>
        new Promise<void>((resolve) => {
          indexedDB.deleteDatabase("deleted").onsuccess = () => resolve()
        })
      )
      assert.deepStrictEqual(yield* store.get("a"), Option.none())
      yield* store.set("a", "2")
      assert.deepStrictEqual(yield* store.get("a"), Option.some("2"))
    }).pipe(Effect.provide(named("deleted"))))

  it.scoped("times out while another tab blocks the database, and works once that tab releases it", () =>
    Effect.gen(function*() {
      const free = yield* deletedOnlyWhenFreed("blocked")
      const closed = yield* closings
      const store = yield* KeyValueStore.KeyValueStore
      const asked = yield* Effect.fork(Effect.flip(store.get("a")))
      yield* TestClock.adjust("2 seconds")
      const waiting = yield* Effect.fork(store.set("b", "2"))
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(asked)
      assert.match(error.message, /: TimeoutError$/)
      // it is known by now: nobody waits for it again
      assert.match((yield* Effect.flip(store.set("a", "1"))).message, /: TimeoutError$/)
      yield* free
      // but what had still time
      yield* Fiber.join(waiting)
      yield* store.set("a", "1")
      assert.deepStrictEqual(yield* Effect.all([store.get("a"), store.get("b")]), [Option.some("1"), Option.some("2")])
      // the other tab's
      assert.strictEqual(closed(), 1)
    }).pipe(Effect.provide(named("blocked"))))

  it.scoped("a scope ends although its database is blocked, and a connection that opens later is closed", () =>
    Effect.gen(function*() {
      const free = yield* deletedOnlyWhenFreed("disposed")
      const closed = yield* closings
      yield* Effect.scoped(Effect.gen(function*() {
        const { run } = yield* Databases.make("disposed")
        yield* Effect.fork(run("values", "readonly", (store) => store.count()))
        yield* Effect.yieldNow()
      }))
      yield* free
      assert.strictEqual(closed(), 2)
    }))

  it.scoped("closes its database with the scope, and opens one that the browser has closed again", () =>
    Effect.gen(function*() {
      const closed = yield* closings
      const opened = yield* openings
      yield* Effect.scoped(Effect.gen(function*() {
        const { run } = yield* Databases.make("closed")
        const count = run("values", "readonly", (store) => store.count())
        yield* count
        // as when the user clears the site's data: the browser tells so
        const [first] = opened()
        first?.close()
        first?.onclose?.call(first, new Event("close"))
        assert.strictEqual(yield* count, 0)
        // and as when it does not: the request that notices it fails, the next one works
        opened()[1]?.close()
        assert.strictEqual((yield* Effect.flip(count)).name, "InvalidStateError")
        assert.strictEqual(yield* count, 0)
        assert.strictEqual(opened().length, 3)
        assert.strictEqual(closed(), 2)
      }))
      assert.strictEqual(closed(), 3)
    }))

  it.scoped("tries again to open a database that could not be opened", () =>
    Effect.gen(function*() {
      const later = yield* Effect.async<IDBDatabase>((resume) => {
        const request = indexedDB.open("refused", 2)
        request.onsuccess = () => resume(Effect.succeed(request.result))
      })
      const { run } = yield* Databases.make("refused")
      const count = run("values", "readonly", (store) => store.count())
      assert.strictEqual((yield* Effect.flip(count)).name, "VersionError")
      yield* Effect.async<void>((resume) => {
        later.close()
        indexedDB.deleteDatabase("refused").onsuccess = () => resume(Effect.void)
      })
      assert.strictEqual(yield* count, 0)
    }))

  it.scoped("a write that succeeds fails after all if its transaction cannot be committed", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(IDBTransaction.prototype, "commit").mockReturnValue(undefined)),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const { run } = yield* Databases.make("uncommitted")
      const written = yield* Effect.exit(run("values", "readwrite", (store) => {
        const request = store.put("1", "a")
        request.addEventListener("success", () => request.transaction?.abort())
        return request
      }))
      assert.isTrue(Exit.isFailure(written))
      assert.isUndefined(yield* run("values", "readonly", (store) => store.get("a")))
    }))

  it.scoped("commits each transaction at once, so that a tab that is suspended after it keeps no other waiting", () =>
    Effect.gen(function*() {
      const commit = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(IDBTransaction.prototype, "commit")),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const { run } = yield* Databases.make("committed")
      yield* run("values", "readwrite", (store) => {
        assert.strictEqual(commit.mock.calls.length, 0)
        return store.put("1", "a")
      })
      assert.strictEqual(commit.mock.calls.length, 1)
      assert.strictEqual(yield* run("values", "readonly", (store) => store.get("a")), "1")
      assert.strictEqual(commit.mock.calls.length, 2)
    }))

  it.effect("a failure names the method, the key and the browser's error", () =>
    Effect.gen(function*() {
      const broken: Databases.Database = {
        run: () => Effect.fail({ _tag: "DatabaseFailure", name: "QuotaExceededError" })
      }
      const error = yield* Effect.flip(Store.over(broken).set("key", "value"))
      assert.strictEqual(error.message, "Unknown: KeyValueStore.set (key): QuotaExceededError")
    }))
})
