import { assert, describe, it } from "@effect/vitest"
import { SourceError, StorageError } from "@stevedore/core"
import { FastCheck as fc } from "effect"
import { assertSurvivesJson } from "./fixtures/encoding.js"

describe("SourceError", () => {
  it.prop("every error decodes from its encoded form", { error: SourceError.SourceError }, ({ error }) => {
    assertSurvivesJson(SourceError.SourceError, error)
  })

  it.prop("no retry helps a source, and every message names it", { error: SourceError.SourceError }, ({ error }) => {
    assert.strictEqual(error.recovery, "none")
    const shown = error._tag === "InvalidSource" && error.fileName.length > 80
      ? error.fileName.slice(0, 80)
      : error.fileName
    assert.include(error.message, JSON.stringify(shown).slice(0, -1))
  })

  it.prop("a name that is too long does not flood the message", { length: fc.integer({ min: 1025, max: 100_000 }) }, (
    { length }
  ) => {
    const error = new SourceError.InvalidSource({ fileName: "n".repeat(length), field: "name", expected: "1 to 1024" })
    assert.isBelow(error.message.length, 200)
  })

  it("a refusal before any request had no attempt", () => {
    assert.strictEqual(new SourceError.EmptySource({ fileName: "a" }).attempts, 0)
    assert.strictEqual(new SourceError.InvalidSource({ fileName: "a", field: "size", expected: "bytes" }).attempts, 0)
  })

  it("a change says what was before and what is now", () => {
    const error = new SourceError.SourceChanged({ fileName: "a", what: "size", expected: "5 bytes", actual: "4 bytes" })
    assert.include(error.message, "it was 5 bytes, now it is 4 bytes")
    assert.include(error.message, "Nothing was completed")
  })

  it.each(
    [
      ["NotFound", "does not exist"],
      ["PermissionDenied", "check its permissions"],
      ["Directory", "upload the files in it"],
      ["NotAFile", "is not a regular file"],
      ["ReadOnce", "use a source that can be read again"],
      ["Failed", "upload it again (EIO)"]
    ] as const
  )("%s: %s", (reason, words) => {
    assert.include(new SourceError.SourceUnreadable({ fileName: "a", reason, code: "EIO" }).message, words)
  })

  it("an etag of storage cannot control a terminal through the message, and the fields keep it unchanged", () => {
    const told = "\"\u001b[2Jgone\u202e\""
    const error = new SourceError.SourceChanged({
      fileName: "a",
      what: "identity",
      expected: "\"e\"",
      actual: told,
      transfer: "download"
    })
    assert.notMatch(error.message, /[\p{Cc}\p{Bidi_C}]/u)
    assert.include(error.message, "[2Jgone")
    assert.strictEqual(error.actual, told)
  })

  it("distinguishes its errors from others", () => {
    assert.isTrue(SourceError.isSourceError(new SourceError.EmptySource({ fileName: "a" })))
    assert.isFalse(SourceError.isSourceError(new StorageError.EtagMissing({})))
    assert.isFalse(SourceError.isSourceError({ _tag: "EmptySource", name: "a", attempts: 0 }))
  })
})
