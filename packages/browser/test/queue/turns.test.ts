import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { entryOf } from "../../src/queue/entry.js"
import { added, changed } from "../../src/queue/item.js"
import { take } from "../../src/queue/turns.js"

const MB = 1_000_000

const queued = (size: number, id: string) => {
  const addition = { file: new File([], id), name: id }
  return entryOf({ ...added(id, addition), size }, addition, undefined)
}

type Entry = ReturnType<typeof queued>

/** Started, and over at once. */
const started = (entry: Entry) => {
  entry.item = changed(entry.item, { state: "completed" })
  return entry
}

describe("the turns of a queue", () => {
  it("start what has the fewest bytes left, and of as many the one that was added first", () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 12 }), (sizes) => {
      const entries = sizes.map((size, index) => queued(size, `${index}`))
      assert.strictEqual(take(entries, 1)?.item.id, `${sizes.indexOf(Math.min(...sizes))}`)
    }))
    const [left, whole] = [queued(100 * MB, "left"), queued(50 * MB, "whole")]
    left.item = changed(left.item, { confirmed: 90 * MB })
    assert.strictEqual(take([whole, left], 1), left)
  })

  it("let later files pass a long one at most as often as its size can be halved, however many come", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 * MB }), fc.integer({ min: 1, max: 5 * MB }), (long, brief) => {
        const first = queued(long, "first")
        const entries = [first]
        let passes = 0
        for (let taken: Entry | undefined; taken !== first; passes++) {
          entries.push(queued(brief, `${passes}`))
          taken = take(entries, 1)
          assert.isDefined(taken)
          if (taken !== undefined) started(taken)
        }
        assert.isAtMost(passes - 1, Math.max(0, Math.ceil(Math.log2(long / brief))))
      })
    )
  })

  it("start everything once, and none that is not queued", () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 10_000 * MB }), { maxLength: 40 }), (sizes) => {
      const entries = sizes.map((size, index) => queued(size, `${index}`))
      const ids = sizes.map(() => {
        const taken = take(entries, 3)
        return taken === undefined ? "none" : started(taken).item.id
      })
      assert.sameMembers(ids, entries.map(({ item }) => item.id))
      assert.isUndefined(take(entries, 3))
    }))
  })
})
