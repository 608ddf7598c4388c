import { assert, describe, it } from "@effect/vitest"
import { UploadQueue } from "@stevedore/browser"
import { UploadLedger, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, FastCheck, Layer, TestClock } from "effect"
import { runs } from "../../../../testing/test/support/runs.js"

const MiB = 1024 * 1024

// one of them goes up in parts
const files = ["a", "bb", "ccc", "dddd"].map((name, index) =>
  new File([new Uint8Array(index === 1 ? 17 * MiB : 10 + index)], name, { lastModified: 1 })
)

const wishes = ["pause", "resume", "cancel", "retry"] as const

/** What a person does: with the item at this place, or with all. */
const step = FastCheck.oneof(
  { weight: 3, arbitrary: FastCheck.record({ add: FastCheck.nat(files.length - 1) }) },
  { weight: 4, arbitrary: FastCheck.record({ millis: FastCheck.nat(3000) }) },
  { weight: 1, arbitrary: FastCheck.record({ remove: FastCheck.nat(6) }) },
  { weight: 1, arbitrary: FastCheck.constant({ clear: true }) },
  {
    weight: 4,
    arbitrary: FastCheck.record({
      wish: FastCheck.constantFrom(...wishes),
      of: FastCheck.option(FastCheck.nat(6), { nil: undefined })
    })
  }
)

const passing = (millis: number) =>
  Effect.gen(function*() {
    for (let passed = 0; passed < millis; passed += 100) {
      yield* TestClock.adjust("100 millis")
      // a Blob is read by the platform, which the test's clock does not move
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
  })

const slow = FaultScript.on("put").always().delay("1 second")
  .and(FaultScript.on("putPart").always().delay("700 millis"))
  .and(FaultScript.on("complete").always().delay("300 millis"))
  .and(FaultScript.on("initiate").always().delay("200 millis"))

const world = Layer.provideMerge(UploadLedger.layerMemory, SandboxLayer.memory({ minimumPartSize: MiB, faults: slow }))

const all = ({ items, unfinished }: UploadQueue.Snapshot) => [...items, ...unfinished]

/** What holds from one look at a queue to the next. */
const checkChange = (before: UploadQueue.Snapshot, now: UploadQueue.Snapshot): void => {
  assert.notStrictEqual(now, before)
  const earlier = new Map(all(before).map((item) => [item.id, item]))
  for (const item of all(now)) {
    const known = earlier.get(item.id)
    if (known !== undefined && known !== item) assert.notDeepEqual(known, item, "another object, and nothing changed")
    assert.isAtMost(item.sent, item.size)
    assert.isAtMost(item.confirmed, item.sent)
    if (known?.state === "uploading" && item.state === "uploading") assert.isAtLeast(item.sent, known.sent)
    assert.strictEqual(item.result !== undefined, item.state === "completed")
  }
  const counted = now.items.filter(({ state }) => state !== "cancelled")
  const sum = (of: (item: UploadQueue.Item) => number) => counted.reduce((total, item) => total + of(item), 0)
  assert.deepInclude(now.totals, {
    files: counted.length,
    size: sum(({ size }) => size),
    sent: sum(({ sent }) => sent),
    confirmed: sum(({ confirmed }) => confirmed)
  })
}

describe("UploadQueue after any sequence of actions", () => {
  it.effect.prop(
    "completes or cancels every file, reports at most five times a second, and leaves nothing behind",
    [FastCheck.array(step, { minLength: 5, maxLength: 25 })],
    ([steps]) =>
      Effect.gen(function*() {
        let held = 0
        const during = Effect.asVoid(Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--)))
        const queue = yield* UploadQueue.scoped({ during, files: 2, upload: { threshold: MiB } })
        const clock = yield* Effect.clock
        const ticks: Array<number> = []
        const wrong: Array<unknown> = []
        let before = queue.getSnapshot()
        let isActing = false
        queue.subscribe(() => {
          if (!isActing) ticks.push(clock.unsafeCurrentTimeMillis())
          const now = queue.getSnapshot()
          try {
            checkChange(before, now)
          } catch (error) {
            wrong.push(error)
          }
          before = now
        })
        const acting = (act: () => void) => {
          isActing = true
          act()
          isActing = false
        }
        const idAt = (place: number | undefined) =>
          place === undefined ? undefined : queue.getSnapshot().items[place]?.id ?? "none"
        const expected = new Set<string>()
        // two go up and two wait, so that whatever comes finds something to be done with
        for (const step of [...files.map((_, add) => ({ add })), ...steps]) {
          if ("millis" in step) yield* passing(step.millis)
          else {
            acting(() => {
              if ("add" in step) queue.add(files.slice(step.add, step.add + 1)).ids.forEach((id) => expected.add(id))
              else if ("wish" in step) queue[step.wish](idAt(step.of))
              else if ("remove" in step) {
                const id = idAt(step.remove) ?? "none"
                expected.delete(id)
                queue.remove(id)
              } else {
                for (const { id, state } of queue.getSnapshot().items) {
                  if (state === "completed" || state === "cancelled") expected.delete(id)
                }
                queue.clear()
              }
            })
          }
        }
        acting(queue.resume)
        for (let looks = 0; looks < 200 && queue.getSnapshot().totals.state === "uploading"; looks++) {
          yield* passing(500)
        }
        yield* passing(1000)
        const { items, unfinished } = queue.getSnapshot()
        assert.deepStrictEqual(wrong, [])
        assert.deepStrictEqual(items.map(({ id }) => id), [...expected])
        assert.deepStrictEqual(items.filter(({ state }) => state !== "completed" && state !== "cancelled"), [])
        assert.deepStrictEqual(unfinished, [])
        assert.deepStrictEqual(yield* Uploads.unfinished, [])
        assert.strictEqual(held, 0)
        for (const { result, size } of items) {
          if (result !== undefined) assert.strictEqual((yield* Sandbox.stored(result.id)).byteLength, size)
        }
        for (const at of ticks) assert.isAtMost(ticks.filter((tick) => tick >= at && tick < at + 1000).length, 5)
        assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
      }).pipe(Effect.scoped, Effect.provide(world)),
    { fastCheck: { numRuns: runs(20) }, timeout: 120_000 }
  )
})
