import { assert, describe, it } from "@effect/vitest"
import { DownloadError } from "@stevedore/core"
import { runs } from "../../testing/test/support/runs.js"
import { assertSurvivesJson } from "./fixtures/encoding.js"

describe("DownloadError", () => {
  it.prop("every error decodes from its encoded form", { error: DownloadError.DownloadError }, ({ error }) => {
    assertSurvivesJson(DownloadError.DownloadError, error)
  }, { fastCheck: { numRuns: runs(300) } })

  it.each([NaN, Infinity, -1, 0.5])("a range from %d survives JSON, which has no such number", (offset) => {
    const error = new DownloadError.InvalidRange({ fileId: "f", offset, length: offset })
    assertSurvivesJson(DownloadError.DownloadError, error)
  })

  it("a refused range says the size of the file, if it is known", () => {
    const range = { fileId: "f", offset: 9 }
    assert.include(new DownloadError.InvalidRange({ ...range, totalLength: 5 }).message, "offset 9: it has 5 bytes.")
    assert.include(new DownloadError.InvalidRange(range).message, "offset 9. Ask")
  })

  it.each([NaN, Infinity, -1, 0.5])(
    "a record that reports a size of %d is a typed failure, not a defect",
    (expected) => {
      const error = new DownloadError.DownloadIncomplete({ fileId: "f", expected, received: 5 })
      assertSurvivesJson(DownloadError.DownloadError, error)
    }
  )

  it.prop("every error has a message", { error: DownloadError.DownloadError }, ({ error }) => {
    assert.isAbove(error.message.length, 20)
  })
})
