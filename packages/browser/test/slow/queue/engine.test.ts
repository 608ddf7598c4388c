import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { UploadQueue } from "@stevedore/browser"
import { UploadLedger, type Uploads } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Runtime, TestClock } from "effect"
import * as Engine from "../../../src/queue/engine.js"

const MiB = 1024 * 1024

const quiet = { during: Effect.void } satisfies UploadQueue.Options

const inParts = { ...quiet, upload: { strategy: "multipart", parts: 4, concurrency: 1 } } as const

const fileOf = (size: number) => new File([new Uint8Array(size)], "a.bin", { lastModified: 1 })

// a Blob is read by the platform, which the test's clock does not move
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets time pass until the queue is as it should be, or it is clear that it never will. */
const until = (queue: UploadQueue.UploadQueue, holds: (snapshot: UploadQueue.Snapshot) => boolean) =>
  Effect.gen(function*() {
    for (let ticks = 0; ticks < 500 && !holds(queue.getSnapshot()); ticks++) {
      yield* TestClock.adjust("200 millis")
      yield* turn
    }
    assert.isTrue(holds(queue.getSnapshot()), JSON.stringify(queue.getSnapshot(), undefined, 2))
  })

const statesOf = ({ items, unfinished }: UploadQueue.Snapshot) => [...items, ...unfinished].map(({ state }) => state)

describe("the engine of a queue", () => {
  const slowly = SandboxLayer.memory({ faults: FaultScript.on("put").always().delay("10 seconds") })

  it.effect.each(["cancel", "remove", "retry"] as const)(
    "a run that goes on to its end although a person has stopped it changes nothing of what comes after: %s",
    (wish) =>
      Effect.gen(function*() {
        const runtime = yield* Effect.runtime<Uploads.Requirements>()
        // as if each run had ended just before it was interrupted
        const [queue] = Engine.make<never>({
          fork: (effect) => Runtime.runFork(runtime)(Effect.uninterruptible(effect)),
          provided: (effect) => Effect.provide(effect, runtime)
        }, quiet)
        const { ids: [id = ""] } = queue.add([fileOf(10)])
        yield* until(queue, ({ items: [item] }) => item?.state === "finishing")
        if (wish === "remove") queue.remove(id)
        else queue.cancel(id)
        if (wish === "retry") queue.retry(id)
        const seen: Array<ReadonlyArray<string>> = []
        queue.subscribe(() => seen.push(statesOf(queue.getSnapshot())))
        const requests = Effect.map(Sandbox.report, ({ requests }) => requests.map(({ operation }) => operation))
        for (let seconds = 0; seconds < 15 && !(yield* requests).includes("complete"); seconds++) {
          yield* TestClock.adjust("1 second")
          yield* turn
        }
        assert.include(yield* requests, "complete")
        if (wish !== "retry") return assert.deepStrictEqual(seen, [])
        for (let seconds = 0; seconds < 3; seconds++) yield* Effect.zipRight(TestClock.adjust("1 second"), turn)
        assert.notInclude(statesOf(queue.getSnapshot()), "completed")
        yield* until(queue, ({ totals }) => totals.state === "completed")
        assert.lengthOf(seen.flat().filter((state) => state === "completed"), 1)
        assert.lengthOf((yield* requests).filter((operation) => operation === "complete"), 2)
      }).pipe(Effect.provide(slowly))
  )

  it.effect("a queue that is made in an uninterruptible region stops what a person cancels", () =>
    Effect.gen(function*() {
      const queue = yield* Effect.uninterruptible(UploadQueue.scoped(quiet))
      queue.add([fileOf(10)])
      yield* until(queue, ({ items: [item] }) => item?.state === "finishing")
      queue.cancel()
      for (let seconds = 0; seconds < 15; seconds++) yield* Effect.zipRight(TestClock.adjust("1 second"), turn)
      const { requests } = yield* Sandbox.report
      assert.deepStrictEqual(requests.map(({ operation, outcome }) => `${operation} ${outcome}`), [
        "initiate answered",
        "put aborted"
      ])
    }).pipe(Effect.scoped, Effect.provide(slowly)))

  it.effect("the file of an upload that is just being found as unfinished becomes one item with it, and goes up", () => {
    let isSlow = false
    const ledger = Layer.effect(
      UploadLedger.UploadLedger,
      Effect.gen(function*() {
        const ledger = yield* UploadLedger.make({
          store: yield* KeyValueStore.KeyValueStore,
          keepUrls: true,
          lock: yield* UploadLedger.makeLock
        })
        const slowly = Effect.suspend(() => isSlow ? Effect.sleep("2 seconds") : Effect.void)
        return { ...ledger, find: (id) => Effect.zipRight(slowly, ledger.find(id)) }
      })
    ).pipe(Layer.provide(KeyValueStore.layerMemory))
    const faults = FaultScript.on("putPart").part(3).stall("connect")
    return Effect.gen(function*() {
      const file = fileOf(20 * MiB)
      yield* Effect.scoped(Effect.gen(function*() {
        const earlier = yield* UploadQueue.scoped(inParts)
        earlier.add([file])
        yield* until(earlier, ({ totals }) => totals.confirmed >= 10 * MiB)
      }))
      isSlow = true
      const queue = yield* UploadQueue.scoped(inParts)
      // its lock is held by whoever looks whether it is left
      yield* TestClock.adjust("1 second")
      queue.add([file])
      yield* until(queue, ({ totals }) => totals.state !== "uploading")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(statesOf(queue.getSnapshot()), ["completed"])
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
      isSlow = false
      const { unfinished } = yield* UploadLedger.UploadLedger
      assert.deepStrictEqual(yield* unfinished, [])
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(ledger, SandboxLayer.memory({ minimumPartSize: MiB, faults })))
    )
  })
})
