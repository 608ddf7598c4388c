import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as Filters from "../../src/list/filters.js"

describe("Filters", () => {
  it("accepts a single value, several values, or operators with values for a name", () => {
    assert.deepStrictEqual(
      Filters.parse([
        "title.contains=a=b.c",
        "folder_id=x",
        "folder_id=y",
        "created_at.gte=2024-01-01",
        "created_at.lt=2025-01-01",
        "parent_folder_id=null",
        "name="
      ]),
      Either.right({
        title: { contains: "a=b.c" },
        folder_id: ["x", "y"],
        created_at: { gte: "2024-01-01", lt: "2025-01-01" },
        parent_folder_id: null,
        name: ""
      })
    )
  })

  it("gives no filter for no arguments", () => {
    assert.deepStrictEqual(Filters.parse([]), Either.right({}))
  })

  it.each(["title", "=x", ".contains=x", "title.=x", "a.b.c=x", "__proto__=x"])("rejects %s and quotes it", (text) => {
    const refusal = Either.flip(Filters.parse([text]))
    assert.isTrue(Either.isRight(refusal) && refusal.right.input.includes(text))
  })

  it("rejects a name that is given both with and without an operator", () => {
    assert.isTrue(Either.isLeft(Filters.parse(["title=x", "title.contains=y"])))
  })
})
