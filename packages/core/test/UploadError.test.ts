import { assert, describe, it } from "@effect/vitest"
import { UploadError } from "@stevedore/core"
import { runs } from "../../testing/test/support/runs.js"
import * as PlanError from "../src/errors/planError.js"
import { assertSurvivesJson } from "./fixtures/encoding.js"

describe("UploadError", () => {
  it.prop("every error decodes from its encoded form", { error: UploadError.UploadError }, ({ error }) => {
    assertSurvivesJson(UploadError.UploadError, error)
  }, { fastCheck: { numRuns: runs(500) } })

  it.each([NaN, Infinity, -Infinity, 0.5, -1, 20_000])("a part count of %d survives JSON, which has no such number", (
    parts
  ) => {
    const error = new PlanError.InvalidPartCount({ parts, size: 1, atLeast: 1, atMost: 1, origin: "asked" })
    assertSurvivesJson(UploadError.UploadError, error)
  })

  it.prop("every error has a message and says whether a retry can help", { error: UploadError.UploadError }, (
    { error }
  ) => {
    assert.isAbove(error.message.length, 20)
    assert.include(["retry", "retryOnce", "slowDown", "newSession", "none"], error.recovery)
  })

  it("an option out of its range says what would be valid", () => {
    const error = new UploadError.InvalidUploadOption({ option: "concurrency", expected: "1 to 32" })
    assert.strictEqual(error.attempts, 0)
    assert.include(error.message, "concurrency")
    assert.include(error.message, "1 to 32")
  })

  it("an unknown completion names the file to ask for", () => {
    const error = new UploadError.CompletionUnknown({ fileId: "file-1", because: "TimedOut", attempts: 5 })
    assert.include(error.message, "Look up the file file-1 later")
    assert.include(error.message, "TimedOut, after 5 attempts")
  })
})
