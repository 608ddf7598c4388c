import { assert, describe, it } from "@effect/vitest"
import { UploadProgress } from "@stevedore/core"
import { Duration, Option } from "effect"
import * as View from "../../src/queue/item.js"
import type { Item } from "../../src/queue/model.js"

const added = (id: string, size: number) => View.added(id, { file: new File([new Uint8Array(size)], id), name: id })

const uploading = (size: number, sent: number, speed: number): UploadProgress.UploadProgress => ({
  ...UploadProgress.initial(size),
  phase: "uploading",
  sent,
  speed: Option.some(speed),
  timeLeft: Option.some(Duration.seconds((size - sent) / speed))
})

const totalsOf = (...items: Parameters<typeof View.snapshotOf>[1]) => View.snapshotOf(View.empty, items).totals

describe("an item of a queue", () => {
  it("after a pause, the total time left is that of the only file, and its sent bytes do not decrease", () => {
    const before = View.progressed(added("a", 1000), uploading(1000, 900, 10), false)
    assert.strictEqual(totalsOf(before).secondsLeft, 10)
    const after = View.progressed(before, uploading(1000, 100, 10), false)
    assert.strictEqual(after.sent, 900)
    assert.strictEqual(after.secondsLeft, 90)
    assert.strictEqual(totalsOf(after).secondsLeft, 90)
  })

  it("a paused upload is finishing during completion, and is paused again if parts have to be resent", () => {
    const phase = (item: Item, phase: UploadProgress.UploadPhase, waits = true) =>
      View.progressed(item, { ...uploading(1000, 500, 10), phase }, waits).state
    const paused = View.changed(added("a", 1000), { state: "paused" })
    assert.strictEqual(phase(paused, "uploading"), "paused")
    assert.strictEqual(phase(paused, "completing"), "finishing")
    const finishing = View.changed(paused, { state: "finishing" })
    assert.deepStrictEqual([phase(finishing, "paused"), phase(finishing, "preparing")], ["paused", "paused"])
    assert.strictEqual(phase(finishing, "uploading", false), "uploading")
  })

  it.each(["completed", "failed", "cancelled"] as const)(
    "that an upload is %s is not shown before its result or its error",
    (phase) => {
      const finishing = View.changed(added("a", 1000), { state: "finishing", sent: 1000 })
      assert.strictEqual(View.progressed(finishing, { ...uploading(1000, 1000, 10), phase }, false), finishing)
    }
  )

  it("the total time left includes all unconfirmed bytes of a paused file, and none of a finishing one", () => {
    const moving = View.progressed(added("a", 1000), uploading(1000, 500, 10), false)
    const waiting = View.changed(added("b", 1000), { state: "paused", sent: 800, confirmed: 600 })
    const finishing = View.changed(added("c", 1000), { state: "finishing", sent: 1000 })
    assert.strictEqual(totalsOf(moving, waiting, finishing).secondsLeft, 90)
  })

  const stalled = (progress: UploadProgress.UploadProgress) => ({ ...progress, stalledSince: Option.some(new Date(0)) })

  it("a file whose bytes are all handed over is finishing, and is not stalled", () => {
    const moving = View.progressed(added("b", 1000), uploading(1000, 0, 10), false)
    const unmeasured = { ...uploading(1000, 1000, 10), speed: Option.none(), timeLeft: Option.none() }
    for (const progress of [uploading(1000, 1000, 10), stalled(uploading(1000, 1000, 10)), unmeasured]) {
      const item = View.progressed(added("a", 1000), progress, false)
      assert.deepInclude(item, { state: "finishing", speed: undefined, secondsLeft: undefined, stalled: false })
      assert.strictEqual(totalsOf(item, moving).secondsLeft, 100)
    }
    const completing = { ...uploading(1000, 1000, 10), phase: "completing" } as const
    const finishing = View.progressed(added("a", 1000), completing, false)
    assert.deepInclude(finishing, { state: "finishing", speed: undefined, secondsLeft: undefined, stalled: false })
    // an attempt that was lost after its last byte begins again
    const waiting = View.progressed(added("a", 1000), uploading(1000, 1000, 10), false)
    assert.deepInclude(View.progressed(waiting, uploading(1000, 100, 10), false), {
      state: "uploading",
      secondsLeft: 90
    })
  })

  it("a stalled file has no speed and no time left, and neither have the totals if nothing else moves", () => {
    const item = View.progressed(added("a", 1000), stalled(uploading(1000, 500, 10)), false)
    assert.deepInclude(item, { stalled: true, speed: undefined, secondsLeft: undefined })
    assert.deepInclude(totalsOf(item), { speed: undefined, secondsLeft: undefined })
    const moving = View.progressed(added("b", 1000), uploading(1000, 500, 10), false)
    assert.deepInclude(totalsOf(item, moving), { speed: 10, secondsLeft: 150 })
  })
})
