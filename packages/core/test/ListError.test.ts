import { assert, describe, it } from "@effect/vitest"
import { ListError } from "@stevedore/core"
import { Duration } from "effect"
import { assertSurvivesJson } from "./fixtures/encoding.js"

const page = { path: "/v1/projects", index: 2, cursor: "abc" }

describe("ListError", () => {
  it.prop("every error decodes from its encoded form", { error: ListError.ListError }, ({ error }) => {
    assertSurvivesJson(ListError.ListError, error)
  })

  it.each<[ListError.ListError, string]>([
    [new ListError.PaginationBroken({ problem: "cursorRepeated", page }), "page 3 of /v1/projects, cursor abc"],
    [new ListError.PaginationBroken({ problem: "tooManyEmptyPages", page }), "walk again later"],
    [new ListError.CursorRejected({ page, age: Duration.hours(3), issues: [] }), "3h old"],
    [new ListError.ItemInvalid({ page, index: 0, field: "", problem: "x" }), "Item 1 of page 3"],
    [new ListError.InvalidPageSize({ pageSize: 101, maximum: 100 }), "from 1 to 100"],
    [new ListError.InvalidListOption({ path: "/v1/tags", option: "sort", problem: "x" }), "x at sort"],
    [
      new ListError.CheckpointMismatch({ path: "/v1/tags", checkpointPath: "/v1/data", what: "list" }),
      "belongs to /v1/data, not /v1/tags"
    ]
  ])("no repeat helps, and the message says what to do: %o", (error, words) => {
    assert.strictEqual(error.recovery, "none")
    assert.include(error.message, words)
  })

  it("a message repeats no more than the beginning of a cursor or an id, and the fields keep them", () => {
    const long = "x".repeat(10_000_000)
    for (
      const error of [
        new ListError.PaginationBroken({ problem: "cursorRepeated", page: { ...page, cursor: long } }),
        new ListError.ItemInvalid({
          page: { ...page, cursor: long },
          index: 0,
          itemId: long,
          field: long,
          problem: "x"
        })
      ]
    ) {
      assert.isBelow(error.message.length, 1500)
      assert.strictEqual(error.page.cursor, long)
    }
  })

  it("a refusal before any request counts no attempt", () => {
    assert.strictEqual(new ListError.InvalidPageSize({ pageSize: 0, maximum: 100 }).attempts, 0)
  })
})
