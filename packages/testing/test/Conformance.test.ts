import { assert, describe, it } from "@effect/vitest"
import * as page from "./conformance/page.js"
import { expectedOutcomes, markdown } from "./conformance/table.js"

describe("the page of the documentation about conformance", () => {
  it("has every row of the table, with what both storages are expected to answer and every reason", () => {
    assert.strictEqual(page.read(), markdown(expectedOutcomes))
  })
})
