import { assert, describe, it } from "@effect/vitest"
import type { Observation } from "../../src/faults/Verdict.js"
import { verdict } from "../../src/faults/Verdict.js"

const seen = (changes: Partial<Observation>): Observation => ({
  fault: "emptyPage",
  requests: 5,
  early: 0,
  items: 500,
  again: undefined,
  duplicates: 0,
  end: { _tag: "Done" },
  ...changes
})

const error = { _tag: "Error", name: "Broken", message: "", isOwn: true } as const

describe("Verdict", () => {
  it("is right for every item once, and for an error only where no way leads to every item", () => {
    assert.isTrue(verdict(seen({})).isRight)
    assert.isTrue(verdict(seen({ fault: "cursorRepeated", items: 300, end: error })).isRight)
    assert.isFalse(verdict(seen({ fault: "emptyPage", items: 200, end: error })).isRight)
    assert.isFalse(verdict(seen({ fault: "cursorRepeated" })).isRight)
  })

  it.each<[string, Partial<Observation>]>([
    ["lost 200", { items: 300 }],
    ["lost 500", { fault: "walkedTwice", again: 0 }],
    ["too early", { fault: "retryAfterSeconds", early: 1 }],
    ["too early", { fault: "retryAfterLong", early: 2, items: 200, end: error }],
    ["twice", { duplicates: 200 }],
    ["endless", { end: { _tag: "TooManyRequests" } }],
    ["asleep", { end: { _tag: "TooLong" } }],
    ["crash", { fault: "cursorRepeated", end: { ...error, isOwn: false } }],
    ["crash", { end: { _tag: "Vanished" } }]
  ])("says %s and is not right: %o", (words, changes) => {
    const { isRight, text } = verdict(seen(changes))
    assert.isFalse(isRight)
    assert.include(text, words)
  })
})
