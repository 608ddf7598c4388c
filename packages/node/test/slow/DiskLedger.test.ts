import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { type UploadLedger } from "@stevedore/core"
import { DiskLedger } from "@stevedore/node"
import { Array as Arr, Effect, Option } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { settableWallClock } from "../../../core/test/fixtures/wallClock.js"
import {
  agedFor,
  contents,
  deadProcess,
  fresh,
  ledgerAt,
  listening,
  locksAt,
  plant,
  quietly,
  receiptOf,
  recordOf
} from "../support/diskLedger.js"

// The default directory is told from the process's own environment, so a test of it has to change that.

describe("DiskLedger", () => {
  it.scopedLive("makes at most 8 file system calls per part, and a constant number to forget an upload", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      let calls = 0
      const counting = new Proxy(fs, {
        get: (target, name: keyof FileSystem.FileSystem) => {
          calls++
          return target[name]
        }
      })
      const ledger = yield* DiskLedger.make({ directory: yield* fresh }).pipe(
        Effect.provideService(FileSystem.FileSystem, counting)
      )
      const callsOf = (parts: number) =>
        Effect.gen(function*() {
          const before = calls
          const record = recordOf(`parts-${parts}`, parts)
          yield* ledger.begin(record)
          const receipts = Arr.makeBy(parts, (index) => receiptOf(index + 1))
          yield* Effect.forEach(receipts, (receipt) => ledger.receive(record, receipt), {
            concurrency: 8,
            discard: true
          })
          assert.lengthOf(Option.getOrThrow(yield* ledger.find(record.id)).receipts, parts)
          const forgetting = calls
          yield* ledger.forget(record)
          return { all: calls - before, forgetting: calls - forgetting }
        })
      yield* callsOf(10)
      const few = yield* callsOf(100)
      const many = yield* callsOf(1_000)
      assert.isAtMost((many.all - few.all) / 900, 8)
      assert.strictEqual(many.forgetting, few.forgetting)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("writes nothing to such a directory a second after it was opened to them, wherever the wall clock was set", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const clock = yield* settableWallClock
      const ledger = yield* ledgerAt(directory)
      yield* clock.within(ledger.begin(recordOf("a")))
      yield* Effect.promise(() => Fs.chmod(directory, 0o777))
      clock.set("2 hours", "back")
      yield* Effect.sleep("1100 millis")
      yield* clock.within(ledger.begin(recordOf("b")))
      assert.notInclude(yield* contents(directory), "\"b\"")
    }).pipe(quietly))

  it.scopedLive("forgets old uploads in batches without logging, and keeps an invalid record and that of another upload", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const month = Date.now() / 1000 - 31 * 86_400
      const before = yield* ledgerAt(directory)
      const ids = Arr.makeBy(100, (index) => `old-${index}`)
      yield* Effect.forEach([...ids, "damaged", "copied"], (id) =>
        Effect.zipRight(
          before.begin({ ...recordOf(id), startedAt: month * 1000 }),
          Effect.promise(() => Fs.utimes(join(directory, id), month, month))
        ))
      yield* Effect.promise(() => Fs.writeFile(join(directory, "damaged", "record.json"), "{}"))
      const ofAnother = JSON.stringify({ ...recordOf("another"), startedAt: month * 1000 })
      yield* Effect.promise(() => Fs.writeFile(join(directory, "copied", "record.json"), ofAnother))

      yield* agedFor(directory, 1)
      const { layer, messages } = listening()
      const ledger = yield* ledgerAt(directory)
      const left = Effect.map(
        Effect.promise(() => Fs.readdir(directory)),
        (names) => names.filter((name) => name.startsWith("old-")).length
      )
      const begin = Effect.zipRight(ledger.begin({ ...recordOf("new"), startedAt: Date.now() }), left)
      assert.isAtLeast(yield* Effect.provide(begin, layer), 50)
      assert.deepStrictEqual(messages, [])
      yield* Effect.replicateEffect(begin, 10)
      assert.strictEqual(yield* left, 0)
      assert.includeMembers(yield* Effect.promise(() => Fs.readdir(directory)), ["damaged", "copied"])
    }))
})

describe("the lock of an upload", () => {
  it.scopedLive("is taken over from a dead process by exactly one of 8 concurrent attempts", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const pid = yield* deadProcess
      const locks = yield* Effect.replicateEffect(locksAt(directory), 8)
      for (let round = 0; round < 25; round++) {
        yield* plant(directory, "a", JSON.stringify({ pid, taking: `round-${round}` }))
        yield* Effect.scoped(Effect.gen(function*() {
          const taken = yield* Effect.forEach(locks, (lock) => lock("a"), { concurrency: "unbounded" })
          assert.lengthOf(taken.filter((one) => one), 1)
        }))
      }
    }))

  it.scopedLive("has at most one holder at a time while several ledgers take, release and abandon it", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const locks = yield* Effect.replicateEffect(locksAt(directory), 6)
      const pid = yield* deadProcess
      let holders = 0
      let most = 0
      let times = 0
      const once = (lock: UploadLedger.Lock) =>
        Effect.scoped(Effect.gen(function*() {
          if (!(yield* lock("a"))) return
          holders++
          times++
          most = Math.max(most, holders)
          yield* Effect.yieldNow()
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          holders--
          // every third time as if the process had died with it
          if (times % 3 === 0) yield* plant(directory, "a", JSON.stringify({ pid, taking: `dead-${times}` }))
        }))
      yield* Effect.forEach(locks, (lock) => Effect.repeatN(once(lock), 40), {
        concurrency: "unbounded",
        discard: true
      })
      assert.strictEqual(most, 1)
      assert.isAbove(times, 20)
    }))
})
