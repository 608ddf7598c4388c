import { assert, describe, it } from "@effect/vitest"
import * as page from "../conformance/page.js"
import { expectedOutcomes, markdown } from "../conformance/table.js"

describe("the conformance page of the documentation", () => {
  it("matches the table generated from the expected outcomes", () => {
    assert.strictEqual(page.read(), markdown(expectedOutcomes))
  })
})
