import { assert, describe, it } from "@effect/vitest"
import type { SourceFingerprint } from "@stevedore/core/UploadSource"
import { Either } from "effect"
import { checkUnchanged } from "../../src/file/sourceFile.js"

const found: SourceFingerprint = { kind: "file", size: 10, modified: 0, identity: "1:2" }

const changeTo = (now: Partial<SourceFingerprint>) =>
  Either.flip(checkUnchanged({ path: "/a", name: "a", fingerprint: found }, { ...found, ...now })).pipe(
    Either.map(({ actual, expected, what }) => ({ actual, expected, what })),
    Either.getOrNull
  )

describe("checkUnchanged", () => {
  it("takes the same file, and says what of another one differs", () => {
    assert.isNull(changeTo({}))
    assert.deepStrictEqual(changeTo({ size: 11 }), { what: "size", expected: "10 bytes", actual: "11 bytes" })
    assert.deepStrictEqual(changeTo({ modified: 1500 }), {
      what: "modified",
      expected: "1970-01-01T00:00:00.000Z",
      actual: "1970-01-01T00:00:01.500Z"
    })
    assert.strictEqual(changeTo({ identity: "1:3" })?.what, "identity")
  })

  it("names a date that no Date can represent in milliseconds", () => {
    assert.strictEqual(changeTo({ modified: 9e15 })?.actual, "9000000000000000 ms from 1970")
  })
})
