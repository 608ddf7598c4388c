import { assert, describe, it } from "@effect/vitest"
import { shownPath } from "../../src/base/text.js"

describe("a path in a log", () => {
  it.each([
    "/files/a?X-Amz-Signature=5ecret",
    "/files/a%3FX-Amz-Signature=5ecret",
    "/files/a%3fx-amz-signature=5ecret",
    "/files/aX-Amz-Signature=5ecret"
  ])("has no signature: %s", (url) => assert.strictEqual(shownPath(url), "/files/a"))

  it("is short", () => assert.lengthOf(shownPath(`/${"a".repeat(8_000)}`), 200))
})
