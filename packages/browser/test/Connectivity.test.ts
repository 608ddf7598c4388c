import { assert, describe, it } from "@effect/vitest"
import { Connectivity } from "@stevedore/browser"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { Effect, ExecutionStrategy, Exit, Fiber, Scope, Stream, TestClock } from "effect"
import * as FakePage from "./fixtures/fakePage.js"

const begun = Effect.gen(function*() {
  const upload = yield* Uploads.start(UploadSources.fromBytes("a.txt", new Uint8Array(100)))
  yield* FakePage.settled
  return upload
})

/** An upload that pauses offline until its `end`, in a page that is online. */
const pausing = Effect.gen(function*() {
  const page = yield* FakePage.make()
  const upload = yield* begun
  const scope = yield* Effect.flatMap(Effect.scope, (test) => Scope.fork(test, ExecutionStrategy.sequential))
  yield* Scope.extend(Connectivity.pausingOffline(upload), scope)
  yield* FakePage.settled
  return { page, upload, end: Scope.close(scope, Exit.void) }
})

const phaseOf = (upload: Uploads.UploadHandle) =>
  Effect.zipRight(FakePage.settled, Effect.map(upload.progress.get, ({ phase }) => phase))

const slow = SandboxLayer.memory({ faults: FaultScript.on("put").always().delay("10 seconds") })

describe("Connectivity", () => {
  it.scoped("current returns whether the page is online and visible now", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      assert.deepStrictEqual(yield* Connectivity.current, { online: true, visible: true })
      page.setOnline(false)
      page.setVisible(false)
      assert.deepStrictEqual(yield* Connectivity.current, { online: false, visible: false })
    }))

  it.scoped("changes emits the current state, then a state per event, and removes its listeners at the end", () =>
    Effect.gen(function*() {
      const page = yield* FakePage.make()
      const seen: Array<Connectivity.Connectivity> = []
      const fiber = yield* Effect.fork(
        Stream.runForEach(Connectivity.changes, (now) => Effect.sync(() => seen.push(now)))
      )
      yield* FakePage.settled
      page.setOnline(false)
      page.setVisible(false)
      page.window.dispatchEvent(new Event("pageshow"))
      // as in a tab that was frozen
      page.document.dispatchEvent(new Event("resume"))
      yield* FakePage.settled
      assert.deepStrictEqual(seen, [
        { online: true, visible: true },
        { online: false, visible: true },
        { online: false, visible: false },
        { online: false, visible: false },
        { online: false, visible: false }
      ])
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(page.listeners(), 0)
    }))

  it.scoped("pausingOffline pauses an upload while offline, and resumes it once online", () =>
    Effect.gen(function*() {
      const { page, upload } = yield* pausing
      assert.strictEqual(yield* phaseOf(upload), "uploading")
      page.setOnline(false)
      assert.strictEqual(yield* phaseOf(upload), "paused")
      // nothing of it goes on with time alone
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* phaseOf(upload), "paused")
      page.setOnline(true)
      assert.strictEqual(yield* phaseOf(upload), "uploading")
      yield* TestClock.adjust("10 seconds")
      yield* FakePage.settled
      assert.strictEqual((yield* upload.await).size, 100)
    }).pipe(Effect.provide(slow)))

  it.scoped("pausingOffline does not resume an upload that was paused explicitly, not even one that it has resumed before", () =>
    Effect.gen(function*() {
      const { page, upload } = yield* pausing
      page.setOnline(false)
      assert.strictEqual(yield* phaseOf(upload), "paused")
      page.setOnline(true)
      assert.strictEqual(yield* phaseOf(upload), "uploading")
      yield* upload.pause
      page.setOnline(false)
      yield* FakePage.settled
      page.setOnline(true)
      assert.strictEqual(yield* phaseOf(upload), "paused")
    }).pipe(Effect.provide(slow)))

  it.scoped("pausingOffline does not resume an upload that was paused by its handle while offline", () =>
    Effect.gen(function*() {
      const { page, upload } = yield* pausing
      page.setOnline(false)
      assert.strictEqual(yield* phaseOf(upload), "paused")
      yield* upload.pause
      page.setOnline(true)
      assert.strictEqual(yield* phaseOf(upload), "paused")
      yield* upload.resume
      assert.strictEqual(yield* phaseOf(upload), "uploading")
    }).pipe(Effect.provide(slow)))

  it.scoped("pausingOffline leaves no upload paused when its scope closes while offline", () =>
    Effect.gen(function*() {
      const { end, page, upload } = yield* pausing
      page.setOnline(false)
      assert.strictEqual(yield* phaseOf(upload), "paused")
      yield* end
      assert.strictEqual(yield* phaseOf(upload), "uploading")
    }).pipe(Effect.provide(slow)))

  it.scoped("pausingOffline stops and removes its listeners when its scope closes", () =>
    Effect.gen(function*() {
      const { end, page, upload } = yield* pausing
      assert.isAbove(page.listeners(), 0)
      yield* end
      assert.strictEqual(page.listeners(), 0)
      page.setOnline(false)
      assert.strictEqual(yield* phaseOf(upload), "uploading")
    }).pipe(Effect.provide(slow)))
})
