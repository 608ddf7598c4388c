import { assert, describe, it } from "@effect/vitest"
import * as Inspect from "../../src/list/inspect.js"

describe("Inspect", () => {
  it("prints every field of a record as a table row, except undefined fields", () => {
    assert.deepStrictEqual(
      Inspect.table({
        id: "1",
        checksum: { algorithm: "crc32", value: "AAAAAA==" },
        author: { id: "2" },
        type: null,
        size: 3,
        absent: undefined,
        created_at: "now"
      }),
      [
        "id          1",
        "checksum    crc32:AAAAAA==",
        "author      {\"id\":\"2\"}",
        "type        null",
        "size        3",
        "created_at  now"
      ]
    )
  })
})
