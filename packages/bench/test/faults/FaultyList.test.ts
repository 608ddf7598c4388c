import { assert, describe, it } from "@effect/vitest"
import { faultyCursor, idOf, itemCount, pageAfter } from "../../src/faults/FaultyList.js"

const everyId = Array.from({ length: itemCount }, (_, index) => idOf(index + 1))

const walk = (fault: Parameters<typeof pageAfter>[0]): ReadonlyArray<string> => {
  let ids: ReadonlyArray<string> = []
  let cursor: string | undefined
  for (let page = 0; page < 20; page++) {
    const { ids: more, next } = pageAfter(fault, cursor)
    ids = [...ids, ...more]
    if (next === undefined) return ids
    cursor = next
  }
  return ids
}

describe("FaultyList", () => {
  it.each(["none", "emptyPage", "shortPages", "outage"] as const)(
    "gives every item once to who follows the cursors: %s",
    (fault) => assert.deepStrictEqual(walk(fault), everyId)
  )

  it("gives an empty page with a cursor, a cursor again, and more without a cursor, each where it says", () => {
    const empty = pageAfter("emptyPage", faultyCursor)
    assert.deepStrictEqual([empty.ids.length, empty.hasMore], [0, true])
    assert.isDefined(empty.next)

    const third = pageAfter("cursorRepeated", faultyCursor)
    assert.deepStrictEqual(pageAfter("cursorRepeated", third.next), third)

    const dangling = pageAfter("moreWithoutCursor", faultyCursor)
    assert.deepStrictEqual([dangling.ids.length, dangling.hasMore, dangling.next], [100, true, undefined])
  })
})
