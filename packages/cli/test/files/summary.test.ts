import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@stevedore/core"
import * as UploadSummary from "../../src/files/summary.js"

describe("UploadSummary", () => {
  it("groups failures that differ only in the id of their request", () => {
    const failures: UploadSummary.Tally["failures"] = new Map()
    for (const [path, requestId] of [["a.wav", "175253B378EBFED8"], ["b.wav", "691977B0878AF1B1"]] as const) {
      UploadSummary.addFailure(
        failures,
        path,
        new StorageError.StorageForbidden({ code: "AccessDenied", requestId, attempts: 1 })
      )
    }
    const [head = "", ...paths] = UploadSummary.failureLines({ failures })
    assert.match(head, /^Failed, 2 files \(StorageForbidden\): /)
    assert.deepStrictEqual(paths, ["  a.wav", "  b.wav"])
  })
})
