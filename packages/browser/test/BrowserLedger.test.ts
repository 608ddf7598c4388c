import { assert, describe, it, vi } from "@effect/vitest"
import { BlobSource, BrowserLedger } from "@stevedore/browser"
import { PresignedUrl, UploadLedger, Uploads, type UploadSession } from "@stevedore/core"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { SandboxLayer } from "@stevedore/testing"
import { Duration, Effect, Exit, Fiber, Layer, Logger, LogLevel, Option, Runtime, Scope, TestClock } from "effect"
import "fake-indexeddb/auto"
import { setImmediate, setTimeout } from "node:timers/promises"
import * as Databases from "../src/ledger/database.js"
import * as FakePage from "./fixtures/fakePage.js"

const url = (part: number) =>
  new PresignedUrl.PresignedUrl(`https://storage.test/k?partNumber=${part}&X-Amz-Signature=secret${part}`)

const record: UploadRecord = {
  version: 1,
  id: "0123456789abcdef",
  service: "https://page.test/api",
  name: "a.bin",
  mediaType: "application/octet-stream",
  fingerprint: { kind: "blob", size: 20, modified: 1, identity: "20/1/x", sample: "x" },
  checksumAlgorithm: "crc32",
  session: {
    fileId: "file",
    uploadId: "upload",
    clockOffset: 0,
    openedAt: 0,
    parts: 2,
    urls: [url(1), url(2)]
  },
  phase: "uploading",
  startedAt: 0
}

const receipt: UploadSession.PartReceipt = { partNumber: 2, etag: "\"2\"", size: 10, attempts: 1, checksum: "AAAAAA==" }

/** What the database holds, keys and values, as text. */
const written = (database: string) =>
  Effect.scoped(Effect.flatMap(Databases.make(database), ({ run }) =>
    Effect.map(
      Effect.all([
        run("values", "readonly", (store) => store.getAllKeys()),
        run("values", "readonly", (store): IDBRequest<Array<unknown>> => store.getAll())
      ]),
      (all) => JSON.stringify(all)
    )))

/** The locks of an origin, which all of its tabs share, in a browser that answers after so many milliseconds. */
const originLocks = (answersAfter = 0) => {
  const held = new Set<string>()
  return {
    held,
    locks: {
      request: async (
        name: string,
        { ifAvailable = false }: { readonly ifAvailable?: boolean },
        use: (lock: object | null) => Promise<void> | void
      ) => {
        await setTimeout(answersAfter)
        if (held.has(name)) {
          // a browser that is not asked for a free lock waits until it is one
          assert.isTrue(ifAvailable)
          return use(null)
        }
        held.add(name)
        await use({ name })
        // another process has to be told
        await setImmediate()
        held.delete(name)
      }
    }
  }
}

describe("BrowserLedger", () => {
  it.scoped("keeps records and receipts across a reload, separately for each database", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* BrowserLedger.make({ database: "reloaded" })
        yield* ledger.begin(record)
        yield* ledger.receive(record, receipt)
      }))
      const ledger = yield* BrowserLedger.make({ database: "reloaded" })
      assert.isTrue(ledger.keepUrls)
      assert.deepStrictEqual(yield* ledger.find(record.id), Option.some({ record, receipts: [receipt] }))
      assert.deepStrictEqual(yield* ledger.unfinished, [{ record, receipts: [receipt] }])
      const other = yield* BrowserLedger.make({ database: "another" })
      assert.deepStrictEqual(yield* other.unfinished, [])
    }))

  it.scoped("does not wait until a receipt is written, but later operations do", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const ledger = yield* BrowserLedger.make({ database: "unhurried" })
      yield* ledger.begin(record)
      let isDone = false
      const transaction = vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(function(
        this: IDBDatabase,
        ...args
      ) {
        transaction.mockRestore()
        const made = this.transaction(...args)
        made.addEventListener("complete", () => {
          isDone = true
        })
        return made
      })
      yield* ledger.receive(record, receipt)
      assert.isFalse(isDone)
      assert.deepStrictEqual(yield* ledger.find(record.id), Option.some({ record, receipts: [receipt] }))
      assert.isTrue(isDone)
      yield* ledger.receive(record, receipt)
      yield* ledger.forget(record)
      assert.strictEqual(yield* written("unhurried"), JSON.stringify([["uploads"], ["[]"]]))
    }))

  it.scoped("that an upload is being completed is written once its receipts are", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const ledger = yield* BrowserLedger.make({ database: "completing" })
      yield* ledger.begin(record)
      const put = vi.spyOn(IDBObjectStore.prototype, "put")
      yield* ledger.receive(record, receipt)
      yield* ledger.completing(record)
      const texts = put.mock.calls.map(([value]) => String(value))
      put.mockRestore()
      assert.deepStrictEqual(texts.map((text) => text.includes("completing")), [false, true])
      const found = Option.getOrThrow(yield* ledger.find(record.id))
      assert.deepStrictEqual([found.record.phase, found.receipts], ["completing", [receipt]])
    }))

  it.scoped("writes no signature if keepUrls is false", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const keeping = yield* BrowserLedger.make({ database: "keeping" })
      yield* keeping.begin(record)
      assert.include(yield* written("keeping"), "secret2")
      const ledger = yield* BrowserLedger.make({ database: "without", keepUrls: false })
      yield* ledger.begin(record)
      yield* ledger.completing(record)
      assert.include(yield* written("without"), record.id)
      assert.notInclude(yield* written("without"), "secret")
    }))

  it.scoped("forgets all of one upload and nothing of another", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const ledger = yield* BrowserLedger.make({ database: "over" })
      const other = { ...record, id: `${record.id}0` }
      yield* Effect.forEach([record, other], (one) => ledger.begin(one))
      yield* Effect.forEach([record, other], (one) => ledger.receive(one, receipt))
      yield* ledger.forget(record)
      assert.deepStrictEqual(yield* ledger.unfinished, [{ record: other, receipts: [receipt] }])
      assert.notInclude(yield* written("over"), `"${record.id}/`)
    }))

  it.scoped("forgets uploads older than 30 days, a day ago too, when the page starts its first, unless they are running", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const day = Duration.toMillis("1 day")
      const startedOn = (on: number): UploadRecord => ({ ...record, id: `day${on}`, startedAt: on * day })
      const before = yield* BrowserLedger.make({ database: "aged" })
      yield* Effect.forEach([startedOn(0), startedOn(0.5), startedOn(2)], (one) => before.begin(one))
      yield* before.receive(startedOn(0), receipt)
      yield* TestClock.setTime(30.75 * day)
      const ids = (ledger: UploadLedger.Service) =>
        Effect.map(ledger.unfinished, (all) => all.map(({ record }) => record.id))

      // what one look at a clock says is no ground to
      const looking = yield* BrowserLedger.make({ database: "aged" })
      yield* looking.begin(startedOn(29))
      yield* looking.forget(startedOn(29))
      yield* TestClock.adjust("1 day")

      const ledger = yield* BrowserLedger.make({ database: "aged" })
      assert.deepStrictEqual(yield* ids(ledger), ["day0", "day0.5", "day2"])
      yield* ledger.lock("day0.5")
      yield* ledger.begin(startedOn(30))
      assert.deepStrictEqual(yield* ids(ledger), ["day0.5", "day2", "day30"])
      assert.notInclude(yield* written("aged"), "day0/")
      yield* ledger.begin(startedOn(0))
      assert.include(yield* ids(ledger), "day0")
    }))

  it.scoped("does not forget an old upload that another tab starts again before its lock is taken", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const tab = yield* BrowserLedger.make({ database: "again" })
      const old = { ...record, id: "old", startedAt: 0 }
      yield* tab.begin(old)
      yield* TestClock.adjust("725 hours")
      yield* (yield* BrowserLedger.make({ database: "again" })).begin({ ...record, id: "other" })
      yield* TestClock.adjust("24 hours")
      const runtime = yield* Effect.runtime()
      const begin = (record: UploadRecord) => Runtime.runPromise(runtime)(tab.begin(record))
      const startedAgain = { ...old, startedAt: Duration.toMillis("31 days") }
      const { locks } = originLocks()
      yield* FakePage.make({
        locks: {
          request: async (...request: Parameters<typeof locks.request>) => {
            if (request[0].endsWith("/old")) await begin(startedAgain)
            return locks.request(...request)
          }
        }
      })
      const ledger = yield* BrowserLedger.make({ database: "again" })
      yield* ledger.begin({ ...record, id: "new", startedAt: Duration.toMillis("31 days") })
      assert.deepStrictEqual(yield* ledger.find("old"), Option.some({ record: startedAgain, receipts: [] }))
    }))

  it.scopedLive("lets one tab at a time lock an upload", () =>
    Effect.gen(function*() {
      const { held, locks } = originLocks()
      yield* FakePage.make({ locks })
      const [one, other] = [
        yield* BrowserLedger.make({ database: "tabs" }),
        yield* BrowserLedger.make({ database: "tabs" })
      ]
      const tab = yield* Scope.make()
      assert.isTrue(yield* Scope.extend(one.lock("a"), tab))
      assert.isFalse(yield* Effect.scoped(other.lock("a")))
      assert.isTrue(yield* Effect.scoped(other.lock("b")))
      yield* Scope.close(tab, Exit.void)
      assert.isTrue(yield* Effect.scoped(other.lock("a")))
      assert.deepStrictEqual([...held], [])
    }))

  it.scopedLive("locks an upload whose lock is free even if the browser takes long to say so", () =>
    Effect.gen(function*() {
      const { locks } = originLocks(300)
      yield* FakePage.make({ locks })
      const ledger = yield* BrowserLedger.make({ database: "busy" })
      assert.isTrue(yield* Effect.scoped(ledger.lock("a")))
    }))

  it.scopedLive("locks an upload whose lock another tab has taken for a moment, to see whether it is running", () =>
    Effect.gen(function*() {
      const { locks } = originLocks()
      yield* FakePage.make({ locks })
      const [one, other] = [
        yield* BrowserLedger.make({ database: "probed" }),
        yield* BrowserLedger.make({ database: "probed" })
      ]
      const probed = yield* Scope.make()
      assert.isTrue(yield* Scope.extend(one.lock("a"), probed))
      const locked = yield* Effect.fork(other.lock("a"))
      yield* Effect.sleep("10 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(locked)))
      yield* Scope.close(probed, Exit.void)
      assert.isTrue(yield* Fiber.join(locked))
      assert.isFalse(yield* Effect.scoped(one.lock("a")))
    }))

  it.scoped("locks uploads within the page if the browser has no Web Locks", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      const ledger = yield* BrowserLedger.make({ database: "alone" })
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* ledger.lock("a"))
        assert.isFalse(yield* Effect.scoped(ledger.lock("a")))
      }))
      assert.isTrue(yield* Effect.scoped(ledger.lock("a")))
    }))

  it.live("uploads and still locks within the page if the browser denies Web Locks and IndexedDB", () =>
    Effect.gen(function*() {
      const denied = () => new DOMException("denied in this context", "SecurityError")
      yield* FakePage.make({ locks: { request: () => Promise.reject(denied()) } })
      vi.stubGlobal("indexedDB", {
        open: () => {
          throw denied()
        }
      })
      const file = new File(["hello"], "a.txt")
      const upload = Effect.flatMap(BlobSource.fromFile(file), (source) => Uploads.upload(source))
      const { layer } = BrowserLedger
      const silent = Logger.minimumLogLevel(LogLevel.None)
      const stored = yield* Effect.provide(upload, Layer.mergeAll(layer(), SandboxLayer.memory(), silent))
      assert.strictEqual(stored.sent.bytes, 5)
      const ledger = yield* BrowserLedger.make()
      assert.isTrue(yield* ledger.lock("a"))
      assert.isFalse(yield* Effect.scoped(ledger.lock("a")))
    }).pipe(Effect.scoped))

  it.scoped("provides a layer that keeps URLs unless keepUrls is false", () =>
    Effect.gen(function*() {
      yield* FakePage.make()
      for (const [keepUrls, kept] of [[undefined, true], [true, true], [false, false]] as const) {
        const layer = BrowserLedger.layer({ database: "layer", keepUrls })
        assert.strictEqual((yield* Effect.provide(UploadLedger.UploadLedger, layer)).keepUrls, kept)
      }
    }))
})
