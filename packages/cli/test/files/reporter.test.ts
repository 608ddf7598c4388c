import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@stevedore/core"
import * as Outcomes from "../../src/files/outcomes.js"
import * as Reporter from "../../src/files/reporter.js"

describe("Reporter", () => {
  it("groups failures that differ only in the id of their request", () => {
    const outcomes = Outcomes.make(["a.wav", "b.wav"], (path) => ({ path }))
    for (const [input, requestId] of [["a.wav", "175253B378EBFED8"], ["b.wav", "691977B0878AF1B1"]] as const) {
      const error = new StorageError.StorageForbidden({ code: "AccessDenied", requestId, attempts: 1 })
      outcomes.settle({ _tag: "Failed", input, error })
    }
    const [head = "", ...paths] = Reporter.failureLines(outcomes)
    assert.match(head, /^Failed, 2 files \(StorageForbidden\): /)
    assert.deepStrictEqual(paths, ["  a.wav", "  b.wav"])
  })
})
