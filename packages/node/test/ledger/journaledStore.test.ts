import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DiskLedger } from "@stevedore/node"
import { Effect, Exit, FastCheck, Option, Scope } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as JournaledStore from "../../src/ledger/journaledStore.js"
import { filesOf, ledgerAt, recordOf } from "../support/internal/journaledStore.js"
import * as Temporary from "../support/temporary.js"

const receiptOf = (partNumber: number) => ({ partNumber, etag: "\"e\"", size: 10, attempts: 1 })

/** The directory as a killed process leaves it: its locks have an owner that is no longer running. */
const killed = (directory: string) =>
  Effect.promise(async () => {
    const after = `${directory}-after`
    await Fs.cp(directory, after, { recursive: true })
    await Fs.chmod(after, 0o700)
    for (const name of await Fs.readdir(join(after, "locks"))) {
      await Fs.writeFile(join(after, "locks", name), JSON.stringify({ pid: 2 ** 30, taking: "dead" }), { mode: 0o600 })
    }
    return after
  })

const numbers = (found: Option.Option<{ readonly receipts: ReadonlyArray<{ readonly partNumber: number }> }>) =>
  Option.map(found, ({ receipts }) => receipts.map(({ partNumber }) => partNumber))

const entry = FastCheck.oneof(
  FastCheck.record({
    what: FastCheck.constantFrom("set", "add"),
    name: FastCheck.constantFrom("a", "b"),
    segment: FastCheck.constantFrom("record", "lines"),
    text: FastCheck.string()
  }).map(({ name, segment, text, what }) => [what, name, segment, text]),
  FastCheck.constantFrom("a", "b").map((name) => ["remove", name])
)

const textOf = (entries: ReadonlyArray<ReadonlyArray<string>>) =>
  entries.map((one) => `\n${JSON.stringify(one)}\n`).join("")

const plain = (contents: ReturnType<typeof JournaledStore.replay>) =>
  Array.from(contents, ([name, { lines, values }]) => [name, [...values], [...lines]])

describe("the journal of uploads", () => {
  it.scopedLive("has one file for all that are running, and none when they have ended", () =>
    Effect.gen(function*() {
      const directory = join(yield* Temporary.directory, "state")
      const ledger = yield* ledgerAt(directory)
      yield* Effect.forEach(["a", "b", "c"], (id) =>
        Effect.scoped(Effect.gen(function*() {
          assert.isTrue(yield* ledger.lock(id))
          yield* ledger.begin(recordOf(id))
          yield* ledger.receive(recordOf(id), receiptOf(1))
          const names = yield* Effect.promise(() => Fs.readdir(directory))
          assert.sameMembers(names, [".gitignore", ".format", "journals", "locks", "temporary"])
          assert.strictEqual((yield* filesOf(directory, "journals")).length, 1)
          yield* ledger.completing(recordOf(id))
          assert.deepStrictEqual(numbers(yield* ledger.find(id)), Option.some([1]))
          yield* ledger.forget(recordOf(id))
          assert.isTrue(Option.isNone(yield* ledger.find(id)))
        })), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* filesOf(directory, "journals"), [])
      assert.deepStrictEqual(yield* filesOf(directory, "locks"), [])
    }))

  it.scopedLive("gives every process what was not finished when its lock is released", () =>
    Effect.gen(function*() {
      const directory = join(yield* Temporary.directory, "state")
      const [here, elsewhere] = [yield* ledgerAt(directory), yield* ledgerAt(directory)]
      yield* Effect.scoped(Effect.gen(function*() {
        yield* here.lock("a")
        yield* here.begin(recordOf("a"))
        yield* Effect.forEach([1, 3], (part) => here.receive(recordOf("a"), receiptOf(part)), { discard: true })
        assert.deepStrictEqual((yield* elsewhere.unfinished).map(({ record }) => record.id), ["a"])
        assert.isFalse(yield* elsewhere.lock("a"))
      }))
      assert.deepStrictEqual(yield* filesOf(directory, "journals"), [])
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* elsewhere.lock("a"))
        assert.deepStrictEqual(numbers(yield* elsewhere.find("a")), Option.some([1, 3]))
        yield* elsewhere.receive(recordOf("a"), receiptOf(2))
        yield* elsewhere.completing(recordOf("a"))
      }))
      const found = yield* here.find("a")
      assert.deepStrictEqual(numbers(found), Option.some([1, 2, 3]))
      assert.isTrue(Option.exists(found, ({ record }) => record.phase === "completing"))
    }))

  it.scopedLive("of a killed process is found, is taken over one upload at a time, and goes with the last", () =>
    Effect.gen(function*() {
      const before = join(yield* Temporary.directory, "state")
      const ledger = yield* ledgerAt(before)
      const running = yield* Scope.make()
      yield* Effect.forEach(["a", "b"], (id) =>
        Effect.gen(function*() {
          yield* Scope.extend(ledger.lock(id), running)
          yield* ledger.begin(recordOf(id))
          yield* ledger.receive(recordOf(id), receiptOf(2))
        }), { discard: true })
      const directory = yield* killed(before)
      const next = yield* ledgerAt(directory)
      assert.deepStrictEqual((yield* next.unfinished).map(({ record }) => record.id).sort(), ["a", "b"])
      yield* Effect.forEach(["a", "b"], (id) =>
        Effect.scoped(Effect.gen(function*() {
          assert.strictEqual((yield* filesOf(directory, "journals")).length, 1)
          assert.isTrue(yield* next.lock(id))
          assert.deepStrictEqual(numbers(yield* next.find(id)), Option.some([2]))
          yield* next.completing(recordOf(id))
          yield* next.forget(recordOf(id))
        })), { discard: true })
      assert.deepStrictEqual(yield* filesOf(directory, "journals"), [])
      assert.deepStrictEqual(yield* next.unfinished, [])
      yield* Scope.close(running, Exit.void)
    }))

  it.scopedLive("of a process that is killed while others run is taken over with its lock", () =>
    Effect.gen(function*() {
      const before = join(yield* Temporary.directory, "state")
      const dying = yield* ledgerAt(before)
      const running = yield* Scope.make()
      yield* Scope.extend(dying.lock("a"), running)
      yield* dying.begin(recordOf("a"))
      const directory = yield* killed(before)
      const lockOf = (id: string) => join(directory, "locks", id)
      const next = yield* ledgerAt(directory)
      yield* Effect.promise(() => Fs.rename(lockOf("a"), lockOf("aside")))
      const [journal = ""] = yield* Effect.promise(() => Fs.readdir(join(directory, "journals")))
      const path = join(directory, "journals", journal)
      yield* Effect.promise(() => Fs.rename(path, `${directory}-journal`))
      // it has looked around, and nothing was there
      yield* Effect.scoped(next.lock("b"))
      yield* Effect.promise(() => Fs.rename(`${directory}-journal`, path))
      yield* Effect.promise(() => Fs.rename(lockOf("aside"), lockOf("a")))
      assert.isTrue(yield* Effect.scoped(next.lock("a")))
      assert.isTrue(Option.isSome(yield* next.find("a")))
      assert.deepStrictEqual(yield* filesOf(directory, "journals"), [])
      yield* Scope.close(running, Exit.void)
    }))

  it.scopedLive("is written anew after a write that failed, with what was to be written then", () =>
    Effect.gen(function*() {
      const directory = join(yield* Temporary.directory, "state")
      const fs = yield* FileSystem.FileSystem
      let isFull = false
      const ledger = yield* Effect.provideService(DiskLedger.make({ directory }), FileSystem.FileSystem, {
        ...fs,
        open: (path, options) => fs.open(isFull ? "/nowhere/at/all" : path, options)
      })
      yield* ledger.lock("a")
      yield* ledger.begin(recordOf("a"))
      isFull = true
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      isFull = false
      yield* ledger.receive(recordOf("a"), receiptOf(2))
      const reader = yield* ledgerAt(directory)
      assert.deepStrictEqual(numbers(yield* reader.find("a")), Option.some([1, 2]))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.prop(
    "says after a power failure what it said at some time before, whatever the end of it is",
    [FastCheck.array(entry), FastCheck.array(entry), FastCheck.nat(), FastCheck.boolean()],
    ([synced, unsynced, at, isZeroed]) => {
      const [kept, torn] = [textOf(synced), textOf(unsynced)]
      const cut = at % (torn.length + 1)
      const rest = isZeroed ? "\0".repeat(torn.length - cut) : ""
      const said = JSON.stringify(plain(JournaledStore.replay(`${kept}${torn.slice(0, cut)}${rest}`)))
      const before = Array.from(
        { length: unsynced.length + 1 },
        (_, count) => JSON.stringify(plain(JournaledStore.replay(textOf([...synced, ...unsynced.slice(0, count)]))))
      )
      assert.include(before, said)
    }
  )
})
