import { assert, describe, it } from "@effect/vitest"
import { FileHandles, UploadQueue, UploadQueueStream } from "@stevedore/browser"
import { RetryPolicy, UploadLedger, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Chunk, Effect, Fiber, Layer, Logger, Stream, TestClock } from "effect"
import {
  alwaysSlowly,
  file,
  handle,
  inParts,
  interrupted,
  isDone,
  keeping,
  leftUnfinished,
  MiB,
  offering,
  onDisk,
  quiet,
  reporting,
  slowly,
  states,
  turns,
  until
} from "./fixtures/uploadQueue.js"

// A queue with one file of a kept handle

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

// its lock is requested while the ledger still forgets the earlier upload

describe("UploadQueue", () => {
  it.scoped.each(
    [
      ["limit", FaultScript.on("initiate").answer(429, "TooManyRequests", { retryAfter: 5 }), 5],
      ["server", FaultScript.on("initiate").answer(503, "ServiceUnavailable", { retryAfter: 4 }), 4],
      ["storage", FaultScript.on("put").answer(503, "SlowDown", { retryAfter: 3 }), 3]
    ] as const
  )(
    "says what a file waits for, and until when, and nothing once it goes on: %s",
    ([waitingFor, faults, most]) =>
      Effect.gen(function*() {
        const queue = yield* UploadQueue.scoped(quiet)
        const seen = new Set<string>()
        queue.subscribe(() =>
          queue.getSnapshot().items.forEach((item) => seen.add(`${item.waitingFor} ${item.retryIn}`))
        )
        queue.add([file("a", 10)])
        yield* until(queue, isDone)
        assert.deepStrictEqual(
          Array.from(seen),
          ["undefined undefined", ...Array.from({ length: most }, (_, second) => `${waitingFor} ${most - second}`)]
        )
        assert.deepStrictEqual(states(queue.getSnapshot()), ["completed"])
      }).pipe(Effect.provide(SandboxLayer.memory({ faults })))
  )

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
      const reported = yield* reporting
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
      assert.lengthOf(reported, 2)
      const { requests } = yield* Sandbox.report
      assert.strictEqual(requests.filter(({ operation }) => operation === "initiate").length, 2)
    }).pipe(Effect.provide(SandboxLayer.memory())))

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

  it.scoped("accepts files of every type, and those without one, if `accept` is `*/*`", () =>
    Effect.gen(function*() {
      const queue = yield* UploadQueue.scoped({ ...quiet, limits: { accept: [".txt", "*/*"] } })
      const { ids, refused } = queue.add([file("photo", 10, "image/png"), file("unknown", 10, "")])
      assert.deepStrictEqual([ids.length, refused], [2, []])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("knows by its extension a file for which the browser has no type", () =>
    Effect.gen(function*() {
      const table: ReadonlyArray<readonly [name: string, type: string, accept: string, isTaken: boolean]> = [
        ["IMG_0001.HEIC", "", "image/*", true],
        ["IMG_0001.heic", "application/octet-stream", "image/heic", true],
        ["a.avif", "", "image/*", true],
        ["talk.mkv", "", "video/*", true],
        ["talk.mkv", "", "image/*", false],
        ["setup.exe", "", "image/*", false],
        ["heic", "", "image/*", false],
        ["a.heic.exe", "", "image/*", false],
        ["a.constructor", "", "image/*", false],
        // what the browser says counts
        ["a.heic", "text/plain", "image/*", false]
      ]
      for (const [name, type, accept, isTaken] of table) {
        const queue = yield* UploadQueue.scoped({ ...quiet, limits: { accept: [accept] } })
        assert.lengthOf(queue.add([file(name, 10, type)]).ids, isTaken ? 1 : 0, `${name} ${type} ${accept}`)
      }
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

  it.scoped("fails an unfinished upload that storage refuses, and resumes it on a retry", () =>
    Effect.gen(function*() {
      const original = file("large.bin", 20 * MiB)
      const { left, queue } = yield* offering(original)
      assert.isTrue(left?.kept)
      queue.giveFile(left?.id ?? "", original)
      const { items: [failed], unfinished } = yield* until(queue, isDone)
      // what needs no file has none to restore
      assert.deepInclude(failed, { state: "failed", kept: false })
      assert.strictEqual(failed?.error?.tag, "StorageUnavailable")
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
            .and(FaultScript.on("putPart").part(4).answer(503))
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
    assert.deepStrictEqual(queue.getSnapshot().items.map(({ state }) => state), ["completed"])
    await queue.dispose()
  })

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
        faults: FaultScript.on("putPart").part(3).after(1).answer(503)
      })),
      Layer.provideMerge(RetryPolicy.none)
    ))))

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
})
