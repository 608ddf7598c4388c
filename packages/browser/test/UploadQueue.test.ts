import { KeyValueStore } from "@effect/platform"
import { assert, describe, it, vi } from "@effect/vitest"
import { FileHandles, UploadQueue, UploadQueueStream } from "@stevedore/browser"
import { RetryPolicy, ServiceApi, UploadLedger, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Chunk, Effect, Fiber, Layer, Logger, Option, Stream, TestClock } from "effect"
import * as FakePage from "./fixtures/fakePage.js"

const MiB = 1024 * 1024

const file = (name: string, size: number, type = "text/plain"): File =>
  new File([new Uint8Array(size).fill(name.length)], name, { type, lastModified: 1 })

/** A file's handle, as far as a queue asks it. */
const handle = (getFile: () => Promise<File>, permission: PermissionState = "granted") =>
  ({ kind: "file", name: "kept", getFile, requestPermission: async () => permission }) as object as FileSystemFileHandle

const quiet = { during: Effect.void } satisfies UploadQueue.Options

const states = ({ items }: UploadQueue.Snapshot) => items.map(({ state }) => state)

// a Blob is read by the platform, which the test's clock does not move
const turns = (count: number) =>
  Effect.promise(async () => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
  })

/** Until the queue is as it should be, or it is clear that it never will. */
const until = (queue: UploadQueue.UploadQueue, holds: (snapshot: UploadQueue.Snapshot) => boolean) =>
  Effect.gen(function*() {
    for (let ticks = 0; ticks < 500 && !holds(queue.getSnapshot()); ticks++) {
      yield* TestClock.adjust("200 millis")
      yield* turns(1)
    }
    assert.isTrue(holds(queue.getSnapshot()), JSON.stringify(queue.getSnapshot(), undefined, 2))
    return queue.getSnapshot()
  })

const isDone = ({ totals }: UploadQueue.Snapshot) => totals.state !== "uploading"

const slowly = FaultScript.on("put").delay("10 seconds")
const alwaysSlowly = FaultScript.on("put").always().delay("10 seconds")
const partsSlowly = SandboxLayer.memory({
  minimumPartSize: MiB,
  faults: FaultScript.on("putPart").always().delay("10 seconds")
})

const onDisk = Layer.effect(
  UploadLedger.UploadLedger,
  Effect.gen(function*() {
    return yield* UploadLedger.make({
      store: yield* KeyValueStore.KeyValueStore,
      keepUrls: true,
      lock: yield* UploadLedger.makeLock
    })
  })
).pipe(Layer.provide(KeyValueStore.layerMemory))

const inParts = { ...quiet, upload: { strategy: "multipart", parts: 4, concurrency: 1 } } as const

/** An earlier page, which got half of a file of 20 MiB up. */
const leftUnfinished = (original: File) =>
  Effect.scoped(Effect.gen(function*() {
    const earlier = yield* UploadQueue.scoped(inParts)
    earlier.add([original])
    yield* until(earlier, ({ totals }) => totals.confirmed >= 10 * MiB)
  }))

/** A queue that offers the upload of this file, which an earlier page has left. */
const offering = (original: File, options: UploadQueue.Options = inParts) =>
  Effect.gen(function*() {
    yield* leftUnfinished(original)
    const queue = yield* UploadQueue.scoped(options)
    const { unfinished: [left] } = yield* until(queue, ({ unfinished }) => unfinished.length === 1)
    return { left, queue }
  })

/** The third part does not move the first time. */
const interrupted = Layer.provideMerge(
  onDisk,
  SandboxLayer.memory({ minimumPartSize: MiB, faults: FaultScript.on("putPart").part(3).stall("connect") })
)

/** Handles in memory. */
const keeping = Effect.map(ServiceApi.ServiceApi, ({ baseUrl }) => {
  const kept = new Map<string, FileSystemFileHandle>()
  const handles = Layer.succeed(FileHandles.FileHandles, {
    keep: (source, handle) =>
      Effect.sync(() => Option.map(UploadLedger.idOf(baseUrl, source), (id) => kept.set(id, handle))),
    find: (id) => Effect.sync(() => Option.fromNullable(kept.get(id))),
    forget: (id) => Effect.sync(() => kept.delete(id))
  })
  return { kept, handles }
})

describe("UploadQueue", () => {
  it.scoped("uploads files, lists them in the order they were added, and returns their records", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const { ids, refused } = queue.add([file("a.txt", 10), file("bb.txt", 20)])
      assert.lengthOf(ids, 2)
      assert.deepStrictEqual(refused, [])
      const { items, totals } = yield* until(queue, isDone)
      assert.deepStrictEqual(items.map(({ id, state }) => [id, state]), ids.map((id) => [id, "completed"]))
      assert.deepInclude(totals, { state: "completed", files: 2, completed: 2, size: 30, sent: 30, confirmed: 30 })
      for (const { name, result, size } of items) {
        const bytes = yield* Sandbox.stored(result?.id ?? "")
        assert.strictEqual(bytes.byteLength, size, name)
      }
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("calls onCompleted once for each item, with its result and metadata, and goes on if it throws", () =>
    Effect.gen(function*() {
      const told: Array<UploadQueue.Item> = []
      const reported = vi.fn()
      vi.stubGlobal("reportError", reported)
      const queue = yield* UploadQueue.scoped({
        ...quiet,
        upload: { metadata: { album: "all" } },
        onCompleted: (item) => {
          told.push(item)
          throw new Error("not ready")
        }
      })
      queue.add([file("a.txt", 10), { file: file("bb.txt", 20), metadata: { album: "its own" } }, file("empty.txt", 0)])
      queue.add([{ file: file("ccc.txt", 1), metadata: { "not a name": "" } }])
      const { items } = yield* until(queue, isDone)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["completed", "completed", "failed"])
      assert.strictEqual(items[2]?.error?.tag, "InvalidUploadOption")
      queue.retry()
      yield* until(queue, isDone)
      const sorted = [...told].sort((one, other) => one.name.localeCompare(other.name))
      assert.deepStrictEqual(sorted.map(({ metadata, name, state }) => [name, state, metadata]), [
        ["a.txt", "completed", { album: "all" }],
        ["bb.txt", "completed", { album: "its own" }]
      ])
      for (const { result } of told) assert.isString(result?.id)
      assert.strictEqual(reported.mock.calls.length, 2)
      const { requests } = yield* Sandbox.report
      assert.strictEqual(requests.filter(({ operation }) => operation === "initiate").length, 2)
    }).pipe(
      Effect.ensuring(Effect.sync(() => vi.unstubAllGlobals())),
      Effect.provide(SandboxLayer.memory())
    ))

  it.scoped("an upload that an earlier page left shows its metadata, and keeps it when it goes on", () =>
    Effect.gen(function*() {
      const original = file("a.bin", 20 * MiB)
      const metadata = { album: "a" }
      yield* Effect.scoped(Effect.gen(function*() {
        const earlier = yield* UploadQueue.scoped({ ...quiet, upload: { ...inParts.upload, metadata } })
        earlier.add([original])
        yield* until(earlier, ({ totals }) => totals.confirmed >= 10 * MiB)
      }))
      const told: Array<UploadQueue.Item> = []
      const queue = yield* UploadQueue.scoped({ ...inParts, onCompleted: (item) => told.push(item) })
      const { unfinished: [left] } = yield* until(queue, ({ unfinished }) => unfinished.length === 1)
      assert.deepStrictEqual(left?.metadata, metadata)
      queue.giveFile(left?.id ?? "", original)
      yield* until(queue, isDone)
      assert.deepStrictEqual(told.map((item) => item.metadata), [metadata])
    }).pipe(Effect.provide(interrupted)))

  it.scoped.each([[1, "completed"], [2, "failed"]] as const)(
    "reads a file once more that could not be read %d times, as after the back button of WebKit: %s",
    ([failures, state]) =>
      Effect.gen(function*() {
        const original = file("a.txt", 10)
        let left = failures
        const getFile = async () => {
          if (left-- > 0) throw new DOMException("The object can not be found here.", "NotFoundError")
          return original
        }
        const queue = yield* UploadQueue.scoped(quiet)
        queue.add([{ file: original, handle: handle(getFile) }])
        const { items: [item] } = yield* until(queue, isDone)
        assert.deepStrictEqual(
          [item?.state, item?.error?.tag],
          [state, state === "failed" ? "SourceUnreadable" : undefined]
        )
      }).pipe(Effect.provide(SandboxLayer.memory()))
  )

  it.scoped("reports a listener's error, and still uploads and calls the other listeners", () =>
    Effect.gen(function*() {
      const reported: Array<unknown> = []
      vi.stubGlobal("reportError", (error: unknown) => reported.push(error))
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllGlobals()))
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

  it.scoped("throws a listener's error in a microtask if there is no reportError", () =>
    Effect.gen(function*() {
      const later: Array<() => void> = []
      vi.stubGlobal("queueMicrotask", (task: () => void) => later.push(task))
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllGlobals()))
      const queue = yield* UploadQueue.scoped(quiet)
      queue.add([file("a", 10)])
      queue.subscribe(() => {
        throw new Error("a view that is wrong")
      })
      queue.pause()
      const [thrown] = later
      assert.throws(() => thrown?.(), "a view that is wrong")
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("uploads although `during` cannot be acquired, and logs it each time", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(message)))
      yield* Effect.gen(function*() {
        const queue = yield* UploadQueue.scoped({ during: Effect.die(new Error("refused")) })
        queue.add([file("a", 10)])
        yield* until(queue, isDone)
        queue.add([file("bb", 10)])
        yield* until(queue, ({ totals }) => totals.completed === 2)
      }).pipe(Effect.provide(logger))
      assert.lengthOf(logged.filter((message) => String(message).includes("cannot be")), 2)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("uploads although `during` never completes, and releases it afterwards", () =>
    Effect.gen(function*() {
      let letGo = 0
      const during = Effect.zipRight(Effect.addFinalizer(() => Effect.sync(() => letGo++)), Effect.never)
      const queue = yield* UploadQueue.scoped({ during })
      queue.add([file("a", 10)])
      yield* until(queue, ({ totals }) => totals.completed === 1)
      yield* until(queue, () => letGo === 1)
    }).pipe(Effect.provide(SandboxLayer.memory())))

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

  it.scoped("uploads three files at a time if the `files` option is NaN", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, files: Number.NaN })
      queue.add(["a", "bb", "ccc", "dddd"].map((name) => file(name, 10)))
      yield* until(queue, (snapshot) => states(snapshot).filter((state) => state === "finishing").length >= 3)
      assert.deepStrictEqual(states(queue.getSnapshot()).slice(3), ["queued"])
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: alwaysSlowly }))))

  it.scoped("`clear` does not remove an item before its result was shown", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const { ids: [id = ""] } = queue.add([file("a", 10), file("bb", 10)])
      const shown: Array<string> = []
      queue.subscribe(() => {
        for (const { id, result } of queue.getSnapshot().items) if (result !== undefined) shown.push(id)
      })
      const isOver = ({ items }: UploadQueue.Snapshot) => items.every(({ state }) => state === "completed")
      for (let looks = 0; looks < 1000 && !isOver(queue.getSnapshot()); looks++) {
        if (shown.length === 0) queue.clear()
        yield* TestClock.adjust("10 millis")
        yield* turns(1)
      }
      assert.include(shown, id)
      assert.strictEqual(new Set(shown).size, 2)
      queue.clear()
      assert.deepStrictEqual(queue.getSnapshot().items, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("keeps the snapshot, its lists and its items the same objects while they do not change", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, files: 1 })
      queue.add([file("a", 10), file("bb", 10)])
      assert.strictEqual(queue.getSnapshot(), queue.getSnapshot())
      queue.pause()
      const before = queue.getSnapshot()
      let told = 0
      queue.subscribe(() => told++)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(queue.getSnapshot(), before)
      assert.strictEqual(told, 0)
      queue.cancel(before.items[1]?.id)
      assert.notStrictEqual(queue.getSnapshot(), before)
      assert.strictEqual(queue.getSnapshot().items[0], before.items[0])
      assert.strictEqual(queue.getSnapshot().unfinished, before.unfinished)
      assert.strictEqual(told, 1)
      queue.cancel(before.items[1]?.id)
      assert.strictEqual(told, 1)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly }))))

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

  it.scoped("pauses and resumes all files if no id is given, including files that have not started", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, files: 1 })
      queue.add([file("a", 10), file("bb", 10)])
      queue.pause()
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused", "paused"])
      assert.strictEqual(queue.getSnapshot().totals.state, "paused")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused", "paused"])
      queue.resume()
      yield* until(queue, isDone)
      assert.strictEqual(queue.getSnapshot().totals.completed, 2)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("sends nothing of a paused file, however long it is paused", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(inParts)
      queue.add([file("a", 4 * MiB)])
      yield* until(queue, (snapshot) => states(snapshot)[0] === "uploading")
      queue.pause()
      for (let minutes = 0; minutes < 5; minutes++) yield* Effect.zipRight(TestClock.adjust("1 minute"), turns(2))
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused"])
      const puts = Effect.map(Sandbox.report, ({ requests }) =>
        requests.filter(({ operation }) => operation === "putPart").map(({ outcome }) => outcome))
      assert.deepStrictEqual(yield* puts, ["aborted"])
      queue.resume()
      yield* until(queue, isDone)
      assert.deepStrictEqual(yield* puts, [
        "aborted",
        ...Array.from({ length: 4 }, () =>
          "answered")
      ])
    }).pipe(
      // what is nearly through when it is paused is not cut
      Effect.provide(SandboxLayer.memory({
        minimumPartSize: MiB,
        faults: FaultScript.on("putPart").part(1).stall("connect")
      }))
    ))

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

  it.scoped("goes on with a file that was paused and resumed while it was prepared", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      let give = () => {}
      const asked = new Promise<File>((resolve) => {
        give = () => resolve(file("a", 10))
      })
      queue.add([{ file: file("a", 10), handle: handle(() => asked) }])
      queue.pause()
      yield* turns(2)
      queue.resume()
      assert.deepStrictEqual(states(queue.getSnapshot()), ["preparing"])
      give()
      yield* until(queue, isDone)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["completed"])
    }).pipe(Effect.provide(SandboxLayer.memory())))

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

  it.scoped("shows an error with a tag and a message, and a retry can succeed", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      queue.add([file("a", 10)])
      const { items: [failed], totals } = yield* until(queue, isDone)
      assert.strictEqual(failed?.state, "failed")
      assert.strictEqual(failed?.error?.tag, "StorageForbidden")
      assert.include(failed?.error?.message, "AccessDenied")
      assert.deepInclude(totals, { state: "failed", failed: 1 })
      queue.retry()
      assert.isUndefined(queue.getSnapshot().items[0]?.error)
      yield* until(queue, isDone)
      assert.strictEqual(queue.getSnapshot().totals.state, "completed")
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").answer(403, "AccessDenied") }))))

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

  it.scoped("shows the size and media type of the file that replaces a failed one", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const { ids: [id = ""] } = queue.add([file("a", 1000)])
      yield* until(queue, ({ totals }) => totals.state === "failed")
      queue.giveFile(id, file("another", 10, "image/png"))
      const other = { name: "a", size: 10, mediaType: "image/png" }
      assert.deepInclude(queue.getSnapshot().items[0], { ...other, sent: 0, confirmed: 0 })
      const { items, totals } = yield* until(queue, isDone)
      assert.deepInclude(items[0], { ...other, sent: 10, confirmed: 10 })
      assert.strictEqual(items[0]?.result?.name, "a")
      assert.deepInclude(totals, { completed: 1, size: 10, sent: 10, confirmed: 10 })
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("complete").answer(403) }))))

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
        faults: FaultScript.on("putPart").part(3).times(times).reset().and(
          FaultScript.on("putPart").part(3).delay("10 seconds")
        )
      })),
      Layer.provideMerge(RetryPolicy.none)
    )

  it.scoped("forgets the upload of a failed file once the file that replaces it is uploaded, and not before", () =>
    Effect.gen(function*() {
      const { kept, queue } = yield* withKeptFile
      const { items: [item] } = yield* until(queue, ({ totals }) => totals.state === "failed")
      assert.strictEqual(item?.error?.tag, "ConnectionFailed")
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

  it.scoped("refuses empty, duplicate and over-limit files with a reason, and accepts the rest", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({
        ...quiet,
        limits: { files: 2, size: 1000, total: 1500, accept: [".txt", "image/*"] }
      })
      const { ids, refused } = queue.add([
        file("empty.txt", 0),
        file("large.txt", 1001),
        file("tool.exe", 10, "application/x-msdownload"),
        file("a.txt", 900),
        file("a.txt", 900),
        file("photo", 700, "image/png"),
        file("b.txt", 500),
        file("c.txt", 10)
      ])
      assert.lengthOf(ids, 2)
      assert.deepStrictEqual(refused.map(({ name, reason }) => [name, reason]), [
        ["empty.txt", "Empty"],
        ["large.txt", "TooLarge"],
        ["tool.exe", "WrongType"],
        ["a.txt", "Duplicate"],
        ["photo", "TotalTooLarge"],
        ["c.txt", "TooMany"]
      ])
      assert.deepStrictEqual(queue.add(null), { ids: [], refused: [] })
    }).pipe(Effect.provide(SandboxLayer.memory())))

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

  it.scoped("accepts files of every type, and those without one, if `accept` is `*/*`", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, limits: { accept: [".txt", "*/*"] } })
      const { ids, refused } = queue.add([file("photo", 10, "image/png"), file("unknown", 10, "")])
      assert.deepStrictEqual([ids.length, refused], [2, []])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("accepts files of the same name, size and date if their paths differ", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const chosen = (path: string) => Object.defineProperty(file("LICENSE", 10), "webkitRelativePath", { value: path })
      const twice = (path: string) => [{ file: file("LICENSE", 10), name: path }, chosen(path)]
      const { ids, refused } = queue.add([...twice("a/LICENSE"), ...twice("b/LICENSE"), file("LICENSE", 10)])
      assert.lengthOf(ids, 3)
      assert.deepStrictEqual(refused.map(({ reason }) => reason), ["Duplicate", "Duplicate"])
      queue.cancel()
    }).pipe(Effect.provide(SandboxLayer.memory())))

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

  it.scoped("offers an earlier page's unfinished upload, rejects other files for it, and resumes with its own", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      const { left, queue } = yield* offering(original)
      assert.deepInclude(left, { name: "large.bin", size: 20 * MiB, state: "needs-file", kept: false })
      assert.isAtLeast(left?.confirmed ?? 0, 10 * MiB)
      for (const size of [20 * MiB, 1, 0]) {
        queue.giveFile(left?.id ?? "", file("another.bin", size))
        const { unfinished: [refused] } = yield* until(queue, ({ totals }) => totals.state !== "uploading")
        assert.strictEqual(refused?.error?.tag, "SourceChanged", `${size} bytes`)
        assert.deepInclude(refused, { state: "needs-file", kept: false })
      }
      queue.giveFile(left?.id ?? "", original)
      const { items, unfinished } = yield* until(queue, ({ totals }) => totals.completed === 1)
      assert.deepStrictEqual(unfinished, [])
      assert.strictEqual(items[0]?.result?.sent.sessions, 1)
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
    }).pipe(Effect.provide(interrupted)))

  it.scoped("fails an unfinished upload whose connection breaks, and resumes it on a retry", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      const { left, queue } = yield* offering(original)
      assert.isTrue(left?.kept)
      queue.giveFile(left?.id ?? "", original)
      const { items: [failed], unfinished } = yield* until(queue, isDone)
      // what needs no file has none to restore
      assert.deepInclude(failed, { state: "failed", kept: false })
      assert.strictEqual(failed?.error?.tag, "ConnectionFailed")
      assert.deepStrictEqual(unfinished, [])
      queue.retry()
      const { items: [completed] } = yield* until(queue, isDone)
      assert.strictEqual(completed?.result?.sent.sessions, 1)
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
    }).pipe(Effect.provide(Layer.mergeAll(
      Layer.provideMerge(
        onDisk,
        SandboxLayer.memory({
          minimumPartSize: MiB,
          faults: FaultScript.on("putPart").part(3).stall("connect")
            .and(FaultScript.on("putPart").part(4).loseAnswer())
        })
      ),
      Layer.succeed(FileHandles.FileHandles, {
        keep: () => Effect.void,
        find: () => Effect.succeedSome(handle(() => Promise.reject(new Error("not asked for")))),
        forget: () => Effect.void
      }),
      RetryPolicy.layer({ attempts: 1 })
    ))))

  it.scoped("offers an unfinished upload once although a wrong file was given, and forgets it when it is removed", () =>
    Effect.gen(function*() {
      const { left, queue } = yield* offering(file("large.bin", 20 * MiB))
      const wrong = new File([new Uint8Array(20 * MiB)], "large.bin", { type: "text/plain", lastModified: 2 })
      queue.giveFile(left?.id ?? "", wrong)
      const { unfinished: [refused] } = yield* until(queue, ({ unfinished }) => unfinished.length === 1)
      assert.strictEqual(refused?.error?.tag, "SourceChanged")
      // it looks a second time
      yield* TestClock.adjust("1 second")
      yield* turns(5)
      assert.lengthOf(queue.getSnapshot().unfinished, 1)
      queue.remove(refused?.id ?? "")
      yield* turns(5)
      assert.deepStrictEqual(yield* Uploads.unfinished, [])
    }).pipe(Effect.provide(interrupted)))

  const keptFiles = [
    {
      what: "the user denies access to a kept file",
      kept: handle(() => Promise.resolve(file("kept", 1)), "denied"),
      tag: "SourceUnreadable"
    },
    {
      what: "a kept file was moved",
      kept: handle(() => Promise.reject(new DOMException("gone", "NotFoundError"))),
      tag: "SourceUnreadable"
    },
    { what: "a kept file changed", kept: handle(() => Promise.resolve(file("kept", 20 * MiB))), tag: "SourceChanged" }
  ]

  for (const { kept, tag, what } of keptFiles) {
    it.scoped(`shows an error and needs the file again if ${what}, and resumes with the given file`, () =>
      Effect.gen(function*() {
        const original = file("large.bin", 20 * MiB)
        const { left, queue } = yield* offering(original)
        assert.isTrue(left?.kept)
        queue.allow(left?.id ?? "")
        const { unfinished: [again] } = yield* until(queue, ({ unfinished }) => unfinished[0]?.kept === false)
        assert.strictEqual(again?.error?.tag, tag)
        queue.giveFile(left?.id ?? "", original)
        yield* until(queue, ({ totals }) => totals.completed === 1)
      }).pipe(Effect.provide(Layer.merge(
        interrupted,
        Layer.succeed(FileHandles.FileHandles, {
          keep: () => Effect.void,
          find: () => Effect.succeedSome(kept),
          forget: () => Effect.void
        })
      ))))
  }

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

  it.scoped("forgets the handle of a cancelled upload", () =>
    Effect.gen(function*() {
      const { handles, kept } = yield* keeping
      const queue = yield* Effect.provide(UploadQueue.scoped(quiet), handles)
      const chosen = file("kept", 10)
      queue.add([{ file: chosen, handle: handle(() => Promise.resolve(chosen)) }])
      yield* until(queue, () => kept.size === 1)
      queue.cancel()
      yield* turns(5)
      assert.strictEqual(kept.size, 0)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: slowly }))))

  it.scoped("does not offer another tab's running upload, or forget it when its own locked item is removed", () =>
    Effect.gen(function*() {
      const { handles, kept } = yield* keeping
      const original = file("large.bin", 20 * MiB)
      const addition = { file: original, handle: handle(() => Promise.resolve(original)) }
      const one = yield* Effect.provide(UploadQueue.scoped(inParts), handles)
      one.add([addition])
      yield* until(one, ({ totals }) => totals.confirmed > 0)
      const other = yield* Effect.provide(UploadQueue.scoped(inParts), handles)
      yield* turns(5)
      assert.deepStrictEqual(other.getSnapshot().unfinished, [])
      const { ids: [mine = ""] } = other.add([addition])
      const { items: [refused] } = yield* until(other, isDone)
      assert.strictEqual(refused?.error?.tag, "UploadLocked")
      other.remove(mine)
      yield* turns(5)
      assert.lengthOf(yield* Uploads.unfinished, 1)
      assert.strictEqual(kept.size, 1)
    }).pipe(Effect.provide(Layer.provideMerge(
      onDisk,
      SandboxLayer.memory({ minimumPartSize: MiB, faults: FaultScript.on("putPart").part(3).always().stall("connect") })
    ))))

  it.scoped("offers an unfinished upload whose lock another tab was probing, once, and a second later", () =>
    Effect.gen(function*() {
      yield* leftUnfinished(file("large.bin", 20 * MiB))
      const ledger = yield* UploadLedger.UploadLedger
      let probes = 0
      const queue = yield* Effect.provideService(UploadQueue.scoped(inParts), UploadLedger.UploadLedger, {
        ...ledger,
        lock: (id) => ++probes === 1 ? Effect.succeed(false) : ledger.lock(id)
      })
      yield* turns(5)
      assert.deepStrictEqual([probes, queue.getSnapshot().unfinished.length], [1, 0])
      yield* TestClock.adjust("1 second")
      yield* turns(5)
      assert.lengthOf(queue.getSnapshot().unfinished, 1)
      yield* TestClock.adjust("1 minute")
      yield* turns(5)
      assert.deepStrictEqual([probes, queue.getSnapshot().unfinished.length], [2, 1])
    }).pipe(Effect.provide(interrupted)))

  it.scoped("does not offer an unfinished upload again that is removed while it looks a second time", () =>
    Effect.gen(function*() {
      yield* leftUnfinished(file("large.bin", 20 * MiB))
      const ledger = yield* UploadLedger.UploadLedger
      let reads = 0
      const queue: UploadQueue.UploadQueue = yield* Effect.provideService(
        UploadQueue.scoped(inParts),
        UploadLedger.UploadLedger,
        {
          ...ledger,
          find: (id) => Effect.delay(ledger.find(id), "100 millis"),
          unfinished: Effect.tap(ledger.unfinished, () =>
            Effect.sync(() => {
              reads += 1
              if (reads === 2) queue.getSnapshot().unfinished.forEach(({ id }) => queue.remove(id))
            }))
        }
      )
      yield* until(queue, ({ unfinished }) => unfinished.length === 1)
      yield* TestClock.adjust("2 seconds")
      yield* turns(5)
      assert.strictEqual(reads, 2)
      assert.deepStrictEqual(queue.getSnapshot().unfinished, [])
    }).pipe(Effect.provide(interrupted)))

  it.scoped("does not offer an unfinished upload that another tab has ended since it was listed", () =>
    Effect.gen(function*() {
      yield* leftUnfinished(file("large.bin", 20 * MiB))
      const ledger = yield* UploadLedger.UploadLedger
      const queue = yield* Effect.provideService(UploadQueue.scoped(inParts), UploadLedger.UploadLedger, {
        ...ledger,
        unfinished: Effect.tap(ledger.unfinished, Effect.forEach(({ record }) => ledger.forget(record)))
      })
      yield* turns(5)
      assert.deepStrictEqual(queue.getSnapshot().unfinished, [])
    }).pipe(Effect.provide(interrupted)))

  it.scoped("does not offer an unfinished upload of another service, which it cannot resume", () =>
    Effect.gen(function*() {
      yield* leftUnfinished(file("a", 20 * MiB))
      yield* leftUnfinished(file("bb", 20 * MiB))
      const ledger = yield* UploadLedger.UploadLedger
      const [first] = yield* ledger.unfinished
      assert(first !== undefined)
      yield* ledger.begin({ ...first.record, service: "https://elsewhere.example/api" })
      const queue = yield* UploadQueue.scoped(inParts)
      yield* turns(10)
      assert.deepStrictEqual(queue.getSnapshot().unfinished.map(({ name }) => name), ["bb"])
      assert.lengthOf(yield* Uploads.unfinished, 2)
    }).pipe(Effect.provide(Layer.provideMerge(
      onDisk,
      SandboxLayer.memory({ minimumPartSize: MiB, faults: FaultScript.on("putPart").part(3).always().stall("connect") })
    ))))

  it.scoped("fails an unfinished upload that another tab has finished, and completes its file on a retry", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      yield* leftUnfinished(original)
      const one = yield* UploadQueue.scoped(inParts)
      const other = yield* UploadQueue.scoped(inParts)
      for (const { getSnapshot } of [one, other]) yield* until(one, () => getSnapshot().unfinished.length === 1)
      one.giveFile(one.getSnapshot().unfinished[0]?.id ?? "", original)
      yield* until(one, ({ totals }) => totals.completed === 1)
      other.giveFile(other.getSnapshot().unfinished[0]?.id ?? "", original)
      const { items: [gone] } = yield* until(other, ({ totals }) => totals.state === "failed")
      assert.strictEqual(gone?.error?.tag, "UnfinishedUploadNotFound")
      other.retry()
      yield* until(other, ({ totals }) => totals.completed === 1)
    }).pipe(Effect.provide(interrupted)))

  it.scoped("turns an unfinished upload into one item when its file is added, and completes it", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      const { queue } = yield* offering(original)
      queue.add([original])
      const { items, unfinished } = yield* until(queue, ({ totals }) => totals.completed === 1)
      assert.lengthOf(items, 1)
      assert.deepStrictEqual(unfinished, [])
    }).pipe(Effect.provide(interrupted)))

  it.scoped("turns an unfinished upload into one item at once, even if its file is paused as soon as it is added", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      const { queue } = yield* offering(original)
      yield* TestClock.adjust("2 seconds")
      let give = () => {}
      const asked = new Promise<File>((resolve) => {
        give = () => resolve(original)
      })
      queue.add([{ file: original, handle: handle(() => asked) }])
      queue.pause()
      // from here on, nothing is published by the clock
      yield* TestClock.adjust("1 second")
      give()
      yield* turns(20)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused"])
      assert.deepStrictEqual(queue.getSnapshot().unfinished, [])
    }).pipe(Effect.provide(interrupted)))

  it.scoped("resumes an unfinished upload with a renamed file", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      const { left, queue } = yield* offering(original)
      queue.giveFile(left?.id ?? "", new File([original], "renamed.bin", { type: "text/plain", lastModified: 1 }))
      const { items: [item] } = yield* until(queue, ({ totals }) => totals.completed === 1)
      assert.deepInclude(item, { name: "large.bin" })
      assert.strictEqual(item?.result?.sent.sessions, 1)
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
    }).pipe(Effect.provide(interrupted)))

  it.scoped("forgets a removed unfinished upload and a cancelled running upload", () =>
    Effect.gen(function*() {
      const { left, queue } = yield* offering(file("large.bin", 20 * MiB))
      queue.remove(left?.id ?? "")
      assert.deepStrictEqual(queue.getSnapshot().unfinished, [])
      queue.add([file("another.bin", 20 * MiB)])
      yield* until(queue, ({ totals }) => totals.confirmed > 0)
      queue.cancel()
      yield* TestClock.adjust("1 second")
      const later = yield* UploadQueue.scoped(inParts)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(later.getSnapshot().unfinished, [])
    }).pipe(Effect.provide(Layer.provideMerge(
      onDisk,
      SandboxLayer.memory({
        minimumPartSize: MiB,
        faults: FaultScript.on("putPart").part(3).always().stall("connect")
      })
    ))))

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

  it.scoped("a pause after all bytes are sent does not stop the upload, and `during` is held until it completes", () =>
    Effect.gen(function*() {
      let held = 0
      const during = Effect.asVoid(Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--)))
      const queue = yield* UploadQueue.scoped({ during })
      queue.add([file("a", 10)])
      // everything that needs no time: the bytes are in storage, and no tick has shown it yet
      yield* turns(20)
      assert.lengthOf((yield* Sandbox.report).requests.filter(({ operation }) => operation === "put"), 1)
      queue.pause()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(states(queue.getSnapshot()), ["finishing"])
      assert.strictEqual(held, 1)
      yield* until(queue, ({ totals }) => totals.state === "completed")
      yield* until(queue, () => held === 0)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("complete").delay("5 seconds") }))))

  it.scoped("shows a paused file as failed if its handle cannot be read", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      let refuse = () => {}
      const asked = new Promise<File>((_, reject) => {
        refuse = () => reject(new DOMException("gone", "NotFoundError"))
      })
      queue.add([{ file: file("a", 10), handle: handle(() => asked) }])
      queue.pause()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused"])
      refuse()
      yield* turns(5)
      // it is read once more
      yield* TestClock.adjust("1 second")
      yield* turns(5)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["failed"])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("`clear` removes a completed file, but not a paused one", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      queue.add([file("a", 10)])
      yield* until(queue, isDone)
      const { ids: [b = ""] } = queue.add([file("bb", 10)])
      queue.pause(b)
      queue.clear()
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused"])
      queue.remove(b)
      assert.deepStrictEqual(queue.getSnapshot().items, [])
      assert.strictEqual(queue.getSnapshot().totals.state, "idle")
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("streams its changes from the current snapshot to the last one", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      const watching = yield* UploadQueueStream.changes(queue).pipe(
        Stream.takeUntil(({ totals }) => totals.state === "completed"),
        Stream.runCollect,
        Effect.fork
      )
      yield* TestClock.adjust("1 milli")
      queue.add([file("a", 10)])
      yield* until(queue, isDone)
      const seen = Chunk.toReadonlyArray(yield* Fiber.join(watching))
      assert.strictEqual(seen[0]?.totals.state, "idle")
      assert.strictEqual(seen.at(-1), queue.getSnapshot())
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it("works without Effect if it has its own layer, and can be disposed of", async () => {
    const queue = UploadQueue.make({ ...quiet, layer: SandboxLayer.memory() })
    const completed = new Promise<void>((resolve) => {
      const unsubscribe = queue.subscribe(() => {
        if (queue.getSnapshot().totals.state !== "completed") return
        unsubscribe()
        resolve()
      })
    })
    queue.add([file("a", 10)])
    await completed
    await queue.dispose()
  })

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

  it.scoped("accepts a file that was rejected for an unfinished upload, and does not count it against the limits", () =>
    Effect.gen(function*() {
      const { left, queue } = yield* offering(file("a", 20 * MiB), { ...inParts, limits: { files: 1 } })
      const changed = file("a", 17 * MiB)
      queue.giveFile(left?.id ?? "", changed)
      yield* until(queue, ({ unfinished }) => unfinished[0]?.error?.tag === "SourceChanged")
      assert.deepStrictEqual(queue.add([changed]).refused, [])
      const { items, unfinished } = yield* until(queue, ({ totals }) => totals.state === "completed")
      assert.deepStrictEqual(items.map(({ size }) => size), [17 * MiB])
      assert.deepStrictEqual(unfinished.map(({ size }) => size), [20 * MiB])
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

  it.scoped("does not retry a failed file that was added again and is completed", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(quiet)
      for (const again of [file("a", 10), file("a", 10), file("bb", 10), file("a", 10)]) {
        queue.add([again])
        yield* until(queue, isDone)
      }
      assert.deepStrictEqual(states(queue.getSnapshot()), ["failed", "completed", "completed", "failed"])
      queue.retry()
      yield* until(queue, isDone)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["failed", "completed", "completed", "completed"])
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.all([0, 2].map((others) => FaultScript.on("put").after(others).answer(403, "AccessDenied")))
    }))))

  it.scoped("keeps the unfinished upload of a failed file if the item of its earlier upload is removed", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped(inParts)
      const large = file("large.bin", 20 * MiB)
      const { ids: [completed = ""] } = queue.add([large])
      yield* until(queue, isDone)
      queue.add([large])
      yield* until(queue, ({ totals }) => totals.state === "failed")
      queue.remove(completed)
      yield* turns(20)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["failed"])
      const [left] = yield* Uploads.unfinished
      assert.strictEqual(left?.parts.confirmed, 2)
    }).pipe(Effect.provide(onDisk.pipe(
      Layer.provideMerge(SandboxLayer.memory({
        minimumPartSize: MiB,
        faults: FaultScript.on("putPart").part(3).after(1).reset()
      })),
      Layer.provideMerge(RetryPolicy.none)
    ))))

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

  it("shows files as paused that are not completed when it is disposed of, or are added later", async () => {
    const queue = UploadQueue.make({
      ...quiet,
      files: 1,
      layer: SandboxLayer.memory({ faults: FaultScript.on("put").always().stall("connect") })
    })
    const begun = new Promise<void>((resolve) => {
      queue.subscribe(() => states(queue.getSnapshot())[0] === "finishing" && resolve())
    })
    queue.add([file("a", 10), file("bb", 10)])
    await begun
    let told = 0
    queue.subscribe(() => told++)
    await queue.dispose()
    await Effect.runPromise(turns(3))
    assert.deepStrictEqual(states(queue.getSnapshot()), ["paused", "paused"])
    assert.isAbove(told, 0)
    queue.add([file("ccc", 10)])
    queue.resume()
    await Effect.runPromise(turns(3))
    assert.deepStrictEqual(states(queue.getSnapshot()), ["paused", "paused", "paused"])
    assert.deepInclude(queue.getSnapshot().totals, { state: "paused", speed: undefined })
  })

  it.effect("sends no requests after its scope was closed", () =>
    Effect.gen(function*() {
      const queue = yield* Effect.scoped(UploadQueue.scoped(quiet))
      queue.add([file("a", 10)])
      queue.resume()
      yield* TestClock.adjust("1 minute")
      yield* turns(3)
      assert.deepStrictEqual(states(queue.getSnapshot()), ["paused"])
      assert.deepStrictEqual((yield* Sandbox.report).requests, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it("fails an item with the error's message if its layer cannot be built", async () => {
    const queue = UploadQueue.make({
      ...quiet,
      layer: Layer.fail(new Error("the address is missing"))
    })
    queue.add([file("a", 10)])
    await new Promise<void>((resolve) => queue.subscribe(() => queue.getSnapshot().totals.failed === 1 && resolve()))
    assert.include(queue.getSnapshot().items[0]?.error?.message, "the address is missing")
    await queue.dispose()
  })

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
