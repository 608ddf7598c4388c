import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl } from "@stevedore/core"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import type { PartReceipt } from "@stevedore/core/UploadSession"
import { Recorder } from "@stevedore/testing"
import { Effect, Exit, FastCheck, Logger, LogLevel, Option, Scope } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { distinct, openLedger, openLock, openStore, recognizable } from "./fixtures/ledgers.js"
import { recordOf, url } from "./fixtures/uploadLedger.js"

const receiptOf = (partNumber: number): PartReceipt => ({
  partNumber,
  etag: `"etag-${partNumber}"`,
  size: 10,
  attempts: 1,
  checksum: "y/Q5Jg=="
})

const warnings = Effect.map(
  Recorder.logs,
  (logs) => logs.filter(({ level }) => level === "WARN").map(({ message }) => message)
)

describe("UploadLedger", () => {
  it.scoped("a lock of this process has one holder until its scope ends, and does not block other ids", () =>
    Effect.gen(function*() {
      const lock = yield* UploadLedger.makeLock
      const scope = yield* Scope.make()
      assert.isTrue(yield* Scope.extend(lock("a1"), scope))
      assert.isFalse(yield* Effect.scoped(lock("a1")))
      assert.isTrue(yield* Effect.scoped(lock("b2")))
      assert.isFalse(yield* Effect.scoped(lock("a1")), "who did not get it lets nothing go")
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* Effect.scoped(lock("a1")))
    }))

  it.scoped("two ledgers in memory share nothing, not even their locks", () =>
    Effect.gen(function*() {
      const lockedIn = Effect.flatMap(UploadLedger.UploadLedger, (ledger) => ledger.lock("a1"))
      const taken = yield* Effect.all([
        Effect.provide(lockedIn, UploadLedger.layerMemory),
        Effect.provide(lockedIn, UploadLedger.layerMemory)
      ])
      assert.deepStrictEqual(taken, [true, true])
    }))

  it.effect("returns what was begun and received, whatever the order and the gaps", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const record = recordOf("a", 4)
      yield* ledger.begin(record)
      yield* ledger.receive(record, receiptOf(4))
      yield* ledger.receive(record, receiptOf(2))
      const found = Option.getOrThrow(yield* ledger.find("a"))
      assert.deepStrictEqual(found.record, record)
      assert.deepStrictEqual(found.receipts, [receiptOf(2), receiptOf(4)])
    }))

  it.effect("a part has a receipt whatever its number: the profile limits the number of parts", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const record = recordOf("a", 10_001)
      yield* ledger.begin(record)
      yield* ledger.receive(record, receiptOf(10_001))
      const found = yield* ledger.find("a")
      assert.deepStrictEqual(Option.map(found, ({ receipts }) => receipts), Option.some([receiptOf(10_001)]))
      assert.deepStrictEqual(yield* warnings, [])
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("uses the last receipt of a part", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const record = recordOf("a")
      yield* ledger.begin(record)
      yield* ledger.receive(record, receiptOf(1))
      yield* ledger.receive(record, { ...receiptOf(1), etag: "\"later\"", attempts: 2 })
      const { receipts } = Option.getOrThrow(yield* ledger.find("a"))
      assert.deepStrictEqual(receipts.map(({ etag }) => etag), ["\"later\""])
    }))

  it.effect("never confuses the receipts of two sessions", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      yield* ledger.begin(recordOf("a", 3, "file-1"))
      yield* ledger.receive(recordOf("a", 3, "file-1"), receiptOf(1))
      yield* ledger.begin(recordOf("a", 3, "file-2"))
      const found = Option.getOrThrow(yield* ledger.find("a"))
      assert.strictEqual(found.record.session.fileId, "file-2")
      assert.deepStrictEqual(found.receipts, [])
    }))

  it.effect("keeps no URL once Complete is about to be sent, and none at all if they are not to be kept", () =>
    Effect.gen(function*() {
      const strict = yield* openLedger({ keepUrls: false })
      yield* strict.ledger.begin(recordOf("a"))
      const open = yield* openLedger()
      yield* open.ledger.begin(recordOf("a"))
      assert.include([...open.values.values()].join(), "s3cret")
      yield* open.ledger.completing(recordOf("a"))
      for (const { ledger, values } of [strict, open]) {
        assert.notInclude([...values.values()].join(), "s3cret")
        assert.notInclude([...values.values()].join(), "https://storage.test")
        const { record } = Option.getOrThrow(yield* ledger.find("a"))
        assert.strictEqual(record.session.uploadId, "upload-1")
        assert.strictEqual(record.session.urls, undefined)
      }
      const { record } = Option.getOrThrow(yield* open.ledger.find("a"))
      assert.strictEqual(record.phase, "completing")
    }))

  it.effect("leaves nothing of a forgotten upload, and everything of the others", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* ledger.begin(recordOf("a"))
      yield* ledger.begin(recordOf("b"))
      const before = new Map(values)
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      yield* ledger.receive(recordOf("a"), receiptOf(3))
      yield* ledger.forget(recordOf("a"))
      assert.deepStrictEqual(yield* ledger.find("a"), Option.none())
      assert.deepStrictEqual((yield* ledger.unfinished).map(({ record }) => record.id), ["b"])
      assert.deepStrictEqual([...values.keys()].sort(), ["b/record", "uploads"])
      assert.strictEqual(values.get("b/record"), before.get("b/record"))
    }))

  it.effect("writes no index if the store can list its keys, and lists the earliest upload first", () =>
    Effect.gen(function*() {
      const { store, values } = openStore()
      const ledger = yield* UploadLedger.make({
        store,
        lock: () => Effect.dieMessage("there is no index to lock"),
        keepUrls: true,
        prefixes: Effect.sync(() => [...new Set([...values.keys()].flatMap((key) => key.split("/").slice(0, -1)))])
      })
      yield* ledger.begin({ ...recordOf("b"), startedAt: 2 })
      yield* ledger.begin({ ...recordOf("c"), startedAt: 3 })
      yield* ledger.begin({ ...recordOf("a"), startedAt: 1 })
      yield* ledger.receive(recordOf("b"), receiptOf(1))
      assert.deepStrictEqual((yield* ledger.unfinished).map(({ record }) => record.id), ["a", "b", "c"])
      yield* ledger.forget(recordOf("b"))
      assert.deepStrictEqual((yield* ledger.unfinished).map(({ record }) => record.id), ["a", "c"])
      assert.deepStrictEqual([...values.keys()].sort(), ["a/record", "c/record"])
    }))

  it.effect("removes an upload at once if the store can", () =>
    Effect.gen(function*() {
      const { store } = openStore()
      const removed: Array<string> = []
      const ledger = yield* UploadLedger.make({
        store: { ...store, remove: () => Effect.dieMessage("one by one") },
        lock: openLock().lock,
        keepUrls: true,
        removeAll: (prefix) => Effect.sync(() => removed.push(prefix))
      })
      yield* ledger.begin(recordOf("a"))
      yield* ledger.forget(recordOf("a"))
      assert.deepStrictEqual(removed, ["a"])
      assert.deepStrictEqual(yield* ledger.unfinished, [])
    }))

  const keptElsewhere = (change: Effect.Effect<void>): Partial<UploadLedger.Options> => ({
    removeAll: () => change,
    prefixes: Effect.succeed([]),
    receipts: { add: () => change, all: () => Effect.succeed([]), remove: () => change }
  })

  for (const where of ["by keys", "elsewhere"] as const) {
    it.effect(`asks before each change whether the lock is still held, and changes nothing once it is lost: ${where}`, () =>
      Effect.gen(function*() {
        const record = recordOf("a", 2)
        for (let mostChanges = 0; mostChanges <= 9; mostChanges++) {
          let asked = 0
          let changes = 0
          const { store } = openStore()
          const change = Effect.sync(() => {
            changes++
          })
          const ledger = yield* UploadLedger.make({
            store: {
              ...store,
              set: (key, text) => Effect.zipRight(change, store.set(key, text)),
              remove: (key) => Effect.zipRight(change, store.remove(key))
            },
            lock: openLock().lock,
            isHeld: (id) => Effect.sync(() => id === record.id && ++asked <= mostChanges),
            keepUrls: true,
            ...(where === "by keys" ? {} : keptElsewhere(change))
          })
          yield* ledger.begin(record)
          yield* ledger.receive(record, receiptOf(1))
          yield* ledger.completing(record)
          yield* ledger.forget(record)
          assert.isAtMost(changes, mostChanges)
          if (mostChanges === 9) assert.strictEqual(changes, where === "by keys" ? 8 : 4)
        }
      }))
  }

  it.effect("lists every upload when many begin at the same time, and writes to the index in turn", () =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 40 }, (_, index) => `upload-${index}`)
      const { store } = openStore()
      const slow = {
        ...store,
        get: (key: string) => Effect.zipLeft(store.get(key), Effect.yieldNow()),
        set: (key: string, value: string | Uint8Array) => Effect.zipRight(Effect.yieldNow(), store.set(key, value))
      }
      const ledger = yield* UploadLedger.make({ store: slow, lock: openLock().lock, keepUrls: true })
      yield* Effect.forEach(ids, (id) => ledger.begin(recordOf(id)), { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual((yield* ledger.unfinished).map(({ record }) => record.id).sort(), [...ids].sort())
    }))

  it.effect.prop(
    "treats an invalid record, receipt or index as absent, and accepts a new record in its place",
    [
      FastCheck.constantFrom("a/record", "a/file-1-2", "uploads"),
      FastCheck.oneof(
        FastCheck.string(),
        FastCheck.json(),
        FastCheck.constantFrom("", "{}", "[1]", "{\"version\":2}", "\"a\"")
      )
    ],
    ([key, garbage]) =>
      Effect.gen(function*() {
        const { ledger, values } = yield* openLedger()
        yield* ledger.begin(recordOf("a"))
        yield* ledger.receive(recordOf("a"), receiptOf(2))
        yield* ledger.receive(recordOf("a"), receiptOf(3))
        values.set(key, garbage)
        const found = yield* ledger.find("a")
        if (key === "a/record") assert.isTrue(Option.isNone(found))
        else {
          const receipts = Option.getOrThrow(found).receipts.map(({ partNumber }) => partNumber)
          assert.deepStrictEqual(receipts, key === "uploads" ? [2, 3] : [3])
        }
        assert.strictEqual(values.get(key), garbage)
        yield* ledger.begin(recordOf("a"))
        assert.isTrue(Option.isSome(yield* ledger.find("a")))
        assert.deepStrictEqual((yield* ledger.unfinished).map(({ record }) => record.id), ["a"])
      }).pipe(Logger.withMinimumLogLevel(LogLevel.None)),
    { fastCheck: { numRuns: runs(40) } }
  )

  it.effect("treats a record of a later version, a record under a wrong id and a receipt of another part as absent", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* ledger.begin(recordOf("a"))
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      const record = values.get("a/record") ?? ""
      values.set("a/file-1-2", values.get("a/file-1-1") ?? "")
      assert.lengthOf(Option.getOrThrow(yield* ledger.find("a")).receipts, 1)
      values.set("b/record", record)
      assert.isTrue(Option.isNone(yield* ledger.find("b")))
      const later = record.replace("\"version\":1", "\"version\":2")
      values.set("a/record", later)
      assert.isTrue(Option.isNone(yield* ledger.find("a")))
      assert.strictEqual(values.get("a/record"), later)
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)))

  it.effect("says once that a store accepts nothing more, with the reason, and never fails", () =>
    Effect.gen(function*() {
      const { ledger } = yield* openLedger({ allowed: () => false })
      yield* ledger.begin(recordOf("a"))
      yield* Effect.forEach([1, 2, 3], (part) => ledger.receive(recordOf("a"), receiptOf(part)))
      yield* ledger.completing(recordOf("a"))
      yield* ledger.forget(recordOf("a"))
      const [warning, ...others] = yield* warnings
      assert.include(warning, "no space left on device")
      assert.lengthOf(others, 0)
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect.each<readonly [string, (error: Error) => Effect.Effect<never>]>([
    ["promises reject", (error) => Effect.die(error)],
    ["calls throw", (error) => {
      throw error
    }]
  ])("survives a store whose %s, and shows nothing of what was thrown", ([_, raise]) =>
    Effect.gen(function*() {
      const thrown = () => raise(new Error(`SET failed for ${PresignedUrl.reveal(url(1))}`))
      const store = { get: thrown, set: thrown, remove: thrown }
      const ledger = yield* UploadLedger.make({ store, lock: openLock().lock, keepUrls: true })
      const record = recordOf("a")
      yield* ledger.begin(record)
      yield* ledger.receive(record, receiptOf(1))
      yield* ledger.completing(record)
      yield* ledger.forget(record)
      assert.deepStrictEqual(yield* ledger.find("a"), Option.none())
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.deepStrictEqual(yield* warnings, [
        "The upload ledger could not be written: its store threw instead of failing. The upload continues without it",
        "The upload ledger could not be read: its store threw instead of failing. The upload continues without it"
      ])
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("shows nothing of what it cannot decode, because it may be a URL", () =>
    Effect.gen(function*() {
      const { ledger, values } = yield* openLedger()
      yield* ledger.begin(recordOf("a"))
      values.set("a/record", (values.get("a/record") ?? "").replace("\"version\":1", "\"version\":9"))
      yield* ledger.find("a")
      assert.lengthOf(yield* warnings, 1)
      yield* Recorder.expectNoSecret("s3cret")
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("writes nothing if there is no ledger", () =>
    Effect.gen(function*() {
      const ledger = yield* UploadLedger.UploadLedger
      yield* ledger.begin(recordOf("a"))
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      assert.isTrue(yield* ledger.lock("a"))
      assert.isTrue(yield* ledger.lock("a"))
      assert.deepStrictEqual(yield* ledger.find("a"), Option.none())
      assert.deepStrictEqual(yield* ledger.unfinished, [])
    }).pipe(Effect.scoped, Effect.provide(UploadLedger.none)))

  it.effect("layerNoop writes nothing, apart from what it is given", () => {
    const begun: Array<string> = []
    return Effect.gen(function*() {
      const ledger = yield* UploadLedger.UploadLedger
      yield* ledger.begin(recordOf("a"))
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      yield* ledger.completing(recordOf("a"))
      yield* ledger.forget(recordOf("a"))
      assert.isFalse(yield* ledger.lock("a"))
      assert.isFalse(ledger.keepUrls)
      assert.deepStrictEqual(yield* ledger.find("a"), Option.none())
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.deepStrictEqual(begun, ["a"])
    }).pipe(
      Effect.scoped,
      Effect.provide(UploadLedger.layerNoop({
        lock: () => Effect.succeed(false),
        begin: ({ id }) => Effect.sync(() => void begun.push(id))
      }))
    )
  })

  it.effect("in memory, one lock has one holder until its scope ends", () =>
    Effect.gen(function*() {
      const ledger = yield* UploadLedger.UploadLedger
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* ledger.lock("a"))
        assert.isFalse(yield* ledger.lock("a"))
        assert.isTrue(yield* ledger.lock("b"))
        assert.isFalse(yield* Effect.scoped(ledger.lock("a")))
        assert.isFalse(yield* ledger.lock("a"))
      }))
      assert.isTrue(yield* Effect.scoped(ledger.lock("a")))
    }).pipe(Effect.provide(UploadLedger.layerMemory)))
})

const source = recognizable(distinct(10))

const id = (service: string, changes: Parameters<typeof recognizable>[1] = {}) =>
  UploadLedger.idOf(service, recognizable(distinct(10), changes))

describe("UploadLedger.idOf", () => {
  it("is the same for the same source and service, whatever its size and date, and is safe as a file name", () => {
    const first = Option.getOrThrow(UploadLedger.idOf("https://api.test", source))
    assert.match(first, /^[0-9a-f]{16}$/)
    assert.deepStrictEqual(id("https://api.test", { fingerprint: { size: 11, modified: 1 } }), Option.some(first))
  })

  it("differs by service, name, kind and identity", () => {
    const ids = [
      id("https://api.test"),
      id("https://other.test"),
      id("https://api.test", { name: "other.mp4" }),
      id("https://api.test", { fingerprint: { kind: "blob" } }),
      id("https://api.test", { fingerprint: { identity: "1:3" } })
    ].map(Option.getOrThrow)
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("is absent for a source without an identity", () => {
    const { identity: _, ...fingerprint } = source.fingerprint
    assert.deepStrictEqual(UploadLedger.idOf("https://api.test", { name: "a", fingerprint }), Option.none())
  })
})
