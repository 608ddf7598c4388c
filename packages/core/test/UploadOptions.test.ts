import { assert, describe, it } from "@effect/vitest"
import { UploadOptions } from "@stevedore/core"

describe("UploadOptions", () => {
  it.each([
    [undefined, 3],
    [Number.NaN, 3],
    [0, 1],
    [-Infinity, 1],
    [2.9, 2],
    [Infinity, Number.MAX_SAFE_INTEGER]
  ])("a wish for %s of something is one for %s, where 3 is meant by none", (wished, number) => {
    assert.strictEqual(UploadOptions.atLeastOne(wished, 3), number)
  })
})
