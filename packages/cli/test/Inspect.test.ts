import { assert, describe, it } from "@effect/vitest"
import * as Inspect from "../src/Inspect.js"

describe("Inspect", () => {
  it("a record is a table of its fields, also of those that are not known", () => {
    assert.deepStrictEqual(
      Inspect.table({ id: "1", author: { id: "2" }, type: null, size: 3, absent: undefined, created_at: "now" }),
      [
        "id          1",
        "author      {\"id\":\"2\"}",
        "type        null",
        "size        3",
        "created_at  now"
      ]
    )
  })
})
