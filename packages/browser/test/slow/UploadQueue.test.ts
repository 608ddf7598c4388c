import { assert, describe, it } from "@effect/vitest"
import { UploadQueue } from "@stevedore/browser"
import { RetryPolicy, UploadLedger, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, TestClock } from "effect"
import * as FakePage from "../fixtures/fakePage.js"
import {
  alwaysSlowly,
  file,
  handle,
  inParts,
  interrupted,
  isDone,
  keeping,
  MiB,
  offering,
  onDisk,
  quiet,
  reporting,
  slowly,
  states,
  turns,
  until
} from "../fixtures/uploadQueue.js"
const partsSlowly = SandboxLayer.memory({
  minimumPartSize: MiB,
  faults: FaultScript.on("putPart").always().delay("10 seconds")
})

// A queue with one file of a kept handle
const withKeptFile = Effect.gen(function*() {
  const { handles, kept } = yield* keeping
  const queue = yield* Effect.provide(UploadQueue.scoped(inParts), handles)
  const original = file("large.bin", 20 * MiB)
  queue.add([{ file: original, handle: handle(() => Promise.resolve(original)) }])
  return { queue, kept }
})

const failing = (times: number) =>
  onDisk.pipe(
    Layer.provideMerge(SandboxLayer.memory({
      minimumPartSize: MiB,
      faults: FaultScript.on("putPart").part(3).times(times).answer(503).and(
        FaultScript.on("putPart").part(3).delay("10 seconds")
      )
    })),
    Layer.provideMerge(RetryPolicy.none)
  )

const again = {
  "removed and added again": (queue: UploadQueue.UploadQueue, given: UploadQueue.Addition) => {
    queue.getSnapshot().items.forEach(({ id }) => queue.remove(id))
    queue.add([given])
  },
  "cancelled and added again": (queue: UploadQueue.UploadQueue, given: UploadQueue.Addition) => {
    queue.cancel()
    queue.add([given])
  },
  "cancelled and retried twice": (queue: UploadQueue.UploadQueue) => {
    for (const act of [queue.cancel, queue.retry, queue.cancel, queue.retry]) act()
  }
}

// its lock is requested while the ledger still forgets the earlier upload
const soon = () => Effect.runPromise(Effect.as(turns(2), file("a", 10)))

describe("UploadQueue", () => {
  it.scoped("waits for a line that was lost, says so, and goes on by itself without sending twice what arrived", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(inParts)
      queue.add([file("large.bin", 20 * MiB)])
      const { items: [waiting] } = yield* until(queue, ({ items }) => items[0]?.waitingFor === "network")
      assert.include(["preparing", "uploading"], waiting?.state)
      assert.isAbove(waiting?.retryIn ?? 0, 0)
      const { items: [completed] } = yield* until(queue, isDone)
      assert.strictEqual(completed?.state, "completed")
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
      assert.lengthOf(
        requests.filter(({ operation, part, status }) => operation === "putPart" && part === 1 && status === 200),
        1
      )
    }).pipe(Effect.provide(onDisk.pipe(
      Layer.provideMerge(SandboxLayer.memory({
        minimumPartSize: MiB,
        faults: FaultScript.on("putPart").part(3).times(3).reset()
      })),
      Layer.provideMerge(RetryPolicy.none)
    ))))

  it.scoped("starts a short file at once though long ones have all places, and no second one beside it", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, files: 2, upload: { strategy: "single" } })
      const long = (name: string) => file(name, 6_000_000)
      queue.add([long("a"), long("bb"), long("ccc")])
      queue.add([file("dddd", 5_000_000), file("eeeee", 4_000_000)])
      const { items } = yield* until(queue, ({ items }) => items.filter(({ sent }) => sent > 0).length === 3)
      assert.deepStrictEqual(items.map(({ state }) => state === "queued"), [false, false, true, true, false])
      yield* until(queue, isDone)
      assert.deepStrictEqual(states(queue.getSnapshot()), Array.from({ length: 5 }, () => "completed"))
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: alwaysSlowly }))))

  it.scoped("reports a listener's error, and still uploads and calls the other listeners", () =>
    Effect.gen(function*() {
      const reported = yield* reporting
      const queue = yield* UploadQueue.scoped({ ...quiet, files: 1 })
      const wrong = new Error("a view that is wrong")
      const seen: Array<string> = []
      queue.subscribe(() => {
        throw wrong
      })
      queue.subscribe(() => seen.push(states(queue.getSnapshot()).join()))
      assert.lengthOf(queue.add([file("a", 10), file("bb", 10)]).ids, 2)
      yield* until(queue, isDone)
      assert.strictEqual(seen.at(-1), "completed,completed")
      assert.deepStrictEqual(reported, seen.map(() => wrong))
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly }))))

  it.scoped("uploads as many files at a time as the `files` option says", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, files: 2 })
      queue.add(["a", "bb", "ccc", "dddd"].map((name) => file(name, 10)))
      yield* until(queue, (snapshot) => states(snapshot).filter((state) => state === "finishing").length === 2)
      assert.deepStrictEqual(states(queue.getSnapshot()).slice(2), ["queued", "queued"])
      let most = 0
      queue.subscribe(() => {
        const active = states(queue.getSnapshot()).filter((state) =>
          state === "preparing" || state === "uploading" || state === "finishing"
        )
        most = Math.max(most, active.length)
      })
      yield* until(queue, isDone)
      assert.strictEqual(most, 2)
      assert.strictEqual(queue.getSnapshot().totals.completed, 4)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: alwaysSlowly }))))

  it.scoped("notifies listeners at most five times a second while it uploads many files", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, files: 4 })
      queue.add(Array.from({ length: 60 }, (_, index) => file(`${index}.txt`, index + 1)))
      const seconds = new Map<number, number>()
      const clock = yield* Effect.clock
      queue.subscribe(() => {
        const second = Math.floor(clock.unsafeCurrentTimeMillis() / 1000)
        seconds.set(second, (seconds.get(second) ?? 0) + 1)
      })
      yield* until(queue, isDone)
      assert.strictEqual(queue.getSnapshot().totals.completed, 60)
      assert.isAtMost(Math.max(...seconds.values()), 5)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("starts another file when one is paused, and resumes the paused file when there is room, which shows at once", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...inParts, files: 1 })
      const { ids: [a, b] } = queue.add([file("a", 4 * MiB), file("bb", 4 * MiB)])
      yield* until(queue, (snapshot) => states(snapshot)[0] === "uploading")
      queue.pause(a)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused", "preparing"])
      yield* until(queue, (snapshot) => states(snapshot)[1] === "uploading")
      queue.resume(a)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["queued", "uploading"])
      queue.pause(b)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["uploading", "paused"])
      queue.resume(b)
      yield* until(queue, isDone)
      assert.deepStrictEqual(queue.getSnapshot().items.map(({ id }) => id), [a, b])
      assert.deepStrictEqual(states(queue.getSnapshot()), ["completed", "completed"])
    }).pipe(Effect.provide(partsSlowly)))

  it.scoped("pauses, resumes and cancels nothing that has ended or needs a file, and takes no file for what is completed", () =>
    Effect.gen(function*() {
      const { queue } = yield* offering(file("large.bin", 20 * MiB), quiet)
      const gone = handle(() => Promise.reject(new DOMException("gone", "NotFoundError")))
      queue.add([{ file: file("a", 10), handle: gone }, file("bb", 10)])
      yield* until(queue, isDone)
      const { ids: [c] } = queue.add([file("ccc", 10)])
      queue.cancel(c)
      const before = queue.getSnapshot()
      assert.deepStrictEqual(states(before), ["failed", "completed", "cancelled"])
      for (const act of [queue.pause, queue.resume, queue.cancel]) {
        act()
        for (const { id } of [...before.items, ...before.unfinished]) act(id)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(queue.getSnapshot(), before)
      }
      for (const { id, state } of before.items) if (state !== "failed") queue.giveFile(id, file("dddd", 10))
      assert.strictEqual(queue.getSnapshot(), before)
      assert.lengthOf(yield* Uploads.unfinished, 1)
    }).pipe(Effect.provide(interrupted)))

  it.scoped("stops a cancelled file immediately, leaves it out of the totals, and can retry it", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const { ids: [a = ""] } = queue.add([file("a", 10), file("bb", 20)])
      yield* until(queue, (snapshot) => states(snapshot)[0] === "finishing")
      queue.cancel(a)
      assert.deepStrictEqual(states(queue.getSnapshot())[0], "cancelled")
      assert.strictEqual(queue.getSnapshot().totals.size, 20)
      yield* until(queue, isDone)
      queue.retry(a)
      yield* until(queue, isDone)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["completed", "completed"])
      const { requests } = yield* Sandbox.report
      const puts = requests.filter(({ operation }) => operation === "put").map(({ outcome }) => outcome)
      assert.strictEqual(puts.filter((outcome) => outcome === "aborted").length, 1)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").times(2).delay("10 seconds") }))))

  it.scoped("resets the sent bytes to the confirmed bytes when a file is retried", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, upload: { strategy: "single" } })
      queue.add([file("a", 10)])
      const { items: [failed] } = yield* until(queue, ({ totals }) => totals.state === "failed")
      assert.deepInclude(failed, { sent: 10, confirmed: 0 })
      queue.retry()
      assert.deepInclude(queue.getSnapshot().items[0], { sent: 0, confirmed: 0 })
      yield* until(queue, ({ totals }) => totals.state === "completed")
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly.and(FaultScript.on("complete").answer(403)) }))))

  it.scoped("forgets the upload of a failed file once the file that replaces it is uploaded, and not before", () =>
    Effect.gen(function*() {
      const { kept, queue } = yield* withKeptFile
      const { items: [item] } = yield* until(queue, ({ totals }) => totals.state === "failed")
      assert.strictEqual(item?.error?.tag, "StorageUnavailable")
      queue.giveFile(item?.id ?? "", file("another version", 20 * MiB))
      yield* until(queue, ({ totals }) => totals.confirmed > 0)
      assert.lengthOf(yield* Uploads.unfinished, 2)
      yield* until(queue, ({ totals }) => totals.completed === 1)
      assert.deepStrictEqual(yield* Uploads.unfinished, [])
      assert.strictEqual(kept.size, 0)
    }).pipe(Effect.provide(failing(1))))

  it.scoped("forgets the uploads of all files that an item has had when it is cancelled", () =>
    Effect.gen(function*() {
      const { kept, queue } = yield* withKeptFile
      for (const version of ["second", "third version"]) {
        const { items: [item] } = yield* until(queue, ({ totals }) => totals.state === "failed")
        queue.giveFile(item?.id ?? "", file(version, 20 * MiB))
      }
      yield* until(queue, ({ totals }) => totals.confirmed > 0)
      assert.lengthOf(yield* Uploads.unfinished, 3)
      queue.cancel()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Uploads.unfinished, [])
      assert.strictEqual(kept.size, 0)
    }).pipe(Effect.provide(failing(2))))

  it.scoped("refuses to give a failed file what it would refuse to add, and says why", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, limits: { files: 3, size: 100, accept: ["text/plain"] } })
      const { ids: [id = ""] } = queue.add([file("a", 10)])
      const { items: [failed] } = yield* until(queue, isDone)
      const newVersion = file("a", 20)
      queue.add([newVersion])
      const refused = {
        Duplicate: newVersion,
        WrongType: file("a", 30, "image/png"),
        TooLarge: file("a", 101),
        Empty: file("a", 0)
      }
      for (const [tag, given] of Object.entries(refused)) {
        queue.giveFile(id, given)
        const { items: [item] } = queue.getSnapshot()
        assert.strictEqual(item?.error?.tag, tag)
        assert.deepStrictEqual({ ...item, error: undefined }, { ...failed, error: undefined })
      }
      queue.giveFile(id, file("a", 30))
      const { items } = yield* until(queue, isDone)
      assert.deepStrictEqual(items.map(({ size, state }) => [size, state]), [[30, "completed"], [20, "completed"]])
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("put").answer(403, "AccessDenied").and(slowly)
    }))))

  it.scoped("uploads files of the same name, size and date under their paths in the chosen folder", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const chosen = (path: string) => Object.defineProperty(file("LICENSE", 10), "webkitRelativePath", { value: path })
      queue.add([chosen("a/LICENSE"), chosen("b/LICENSE"), file("LICENSE", 10)])
      const { items } = yield* until(queue, isDone)
      assert.deepStrictEqual(items.map(({ name, state }) => [name, state]), [
        ["a/LICENSE", "completed"],
        ["b/LICENSE", "completed"],
        ["LICENSE", "completed"]
      ])
    }).pipe(Effect.provide(Layer.provideMerge(onDisk, SandboxLayer.memory({ faults: alwaysSlowly })))))

  it.scoped("keeps a handle only while its file is uploaded", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      const { handles, kept } = yield* keeping
      const queue = yield* Effect.provide(UploadQueue.scoped(quiet), handles)
      queue.subscribe(() => seen.push(kept.size))
      const chosen = file("kept", 10)
      queue.add([{ file: chosen, handle: handle(() => Promise.resolve(chosen)) }])
      yield* until(queue, isDone)
      assert.include(seen, 1)
      assert.strictEqual(queue.getSnapshot().totals.completed, 1)
      assert.strictEqual(kept.size, 0)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly }))))

  it.scoped("holds `during` while a file is uploading, and releases it when none is", () =>
    Effect.gen(function*() {
      let held = 0
      const during = Effect.asVoid(Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--)))
      const queue = yield* UploadQueue.scoped({ during })
      assert.strictEqual(held, 0)
      queue.add([file("a", 10)])
      yield* until(queue, () => held === 1)
      queue.pause()
      yield* until(queue, () => held === 0)
      queue.resume()
      yield* until(queue, () => held === 1)
      yield* until(queue, (snapshot) => isDone(snapshot) && held === 0)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly }))))

  it.scoped("warns a user who leaves the page while a file is uploading", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      const isAsked = () => !page.window.dispatchEvent(new Event("beforeunload", { cancelable: true }))
      const queue = yield* UploadQueue.scoped()
      assert.isFalse(isAsked())
      queue.add([file("a", 10)])
      yield* until(queue, isAsked)
      yield* until(queue, isDone)
      yield* until(queue, () => !isAsked())
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly }))))

  it.scoped("fails an unfinished upload whose file changes while it is sent, and uploads what it is now on a retry", () =>
    Effect.gen(function*() {
      const original = file("a", 20 * MiB)
      const { left, queue } = yield* offering(original)
      const changed = new File([new Uint8Array(20 * MiB)], "a", { type: "text/plain", lastModified: 2 })
      let looks = 0
      // until its upload has begun, it is the original
      const getFile = async () => ++looks <= 2 ? original : changed
      queue.giveFile(left?.id ?? "", { file: original, handle: handle(getFile) })
      const { items: [failed] } = yield* until(queue, ({ items }) => items.some(({ error }) => error !== undefined))
      assert.deepStrictEqual([failed?.state, failed?.error?.tag], ["failed", "SourceChanged"])
      queue.retry()
      const { items: [done] } = yield* until(queue, isDone)
      assert.strictEqual(done?.state, "completed")
      assert.deepStrictEqual(yield* Sandbox.stored(done?.result?.id ?? ""), new Uint8Array(20 * MiB))
    }).pipe(Effect.provide(interrupted)))

  it.scoped("does not retry a cancelled file that was added again", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      queue.add([file("a", 10), file("bb", 10)])
      queue.cancel()
      queue.add([file("a", 10)])
      queue.retry()
      yield* until(queue, isDone)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["cancelled", "completed", "completed"])
    }).pipe(Effect.provide(Layer.provideMerge(onDisk, SandboxLayer.memory({ faults: alwaysSlowly })))))

  for (const [what, act] of Object.entries(again)) {
    it.scoped(`uploads a file that was ${what}, once its earlier upload is forgotten`, () =>
      Effect.gen(function*() {
        const given = { file: file("a", 10), handle: handle(soon) }
        const queue = yield* UploadQueue.scoped(quiet)
        queue.add([given])
        yield* until(queue, (snapshot) => states(snapshot).includes("finishing"))
        act(queue, given)
        yield* until(queue, isDone)
        assert.strictEqual(states(queue.getSnapshot()).at(-1), "completed", JSON.stringify(queue.getSnapshot().items))
      }).pipe(Effect.provide(
        Layer.effect(
          UploadLedger.UploadLedger,
          Effect.map(UploadLedger.UploadLedger, (ledger): UploadLedger.Service => ({
            ...ledger,
            forget: (record) => Effect.zipRight(Effect.sleep("1 second"), ledger.forget(record))
          }))
        ).pipe(Layer.provide(onDisk), Layer.provideMerge(SandboxLayer.memory({ faults: alwaysSlowly })))
      )))
  }

  it.scoped("adds 10,000 files with fewer than 30 property reads per file on average", () =>
    Effect.gen(function*() {
      let looks = 0
      class Counted extends File {
        override get name() {
          looks++
          return super.name
        }
        override get size() {
          looks++
          return super.size
        }
        override get lastModified() {
          looks++
          return super.lastModified
        }
      }
      const queue = yield* UploadQueue.scoped({ ...quiet, limits: { total: 1e9, files: 1e6 } })
      const files = Array.from({ length: 10_000 }, (_, index) => new Counted(["bytes"], `${index}.txt`))
      const half = files.length / 2
      assert.lengthOf(queue.add(files.slice(0, half)).ids, half)
      assert.lengthOf(queue.add(files).refused, half)
      assert.isBelow(looks, 30 * files.length)
      queue.cancel()
    }).pipe(Effect.provide(SandboxLayer.memory())))
})
