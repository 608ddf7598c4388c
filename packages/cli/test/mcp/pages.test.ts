import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { isShort } from "../../src/mcp/answers.js"
import { page, recordOf } from "../../src/mcp/pages.js"

const listOf = (items: ReadonlyArray<object>) => ({
  page: (
    { cursor = "0", pageSize }: { readonly cursor: string | undefined; readonly pageSize: number }
  ) =>
    Effect.sync(() => {
      const end = Number(cursor) + pageSize
      return { items: items.slice(Number(cursor), end), nextCursor: end < items.length ? String(end) : undefined }
    })
})

const walked = (items: ReadonlyArray<object>, limit: number) =>
  Effect.gen(function*() {
    let seen: ReadonlyArray<unknown> = []
    let cursor: string | undefined
    do {
      const answer = yield* page(listOf(items), cursor, limit)
      assert.isTrue(isShort(answer), answer.message)
      assert.isNotEmpty(answer.message)
      if (Array.isArray(answer["items"])) seen = seen.concat(answer["items"])
      cursor = typeof answer["next"] === "string" ? answer["next"] : undefined
    } while (cursor !== undefined)
    return seen
  })

const anyRecord = fc.dictionary(
  fc.string({ maxLength: 30 }),
  fc.oneof(fc.string({ maxLength: 4_000 }), fc.jsonValue()),
  {
    maxKeys: 40
  }
)

describe("a page", () => {
  it.effect("has the records whole, also those without an id or a title", () =>
    Effect.gen(function*() {
      const records = [
        { uuid: "a1", label: "first", size: 3, deep: { x: [1] } },
        { id: "2", title: "t", more: true },
        {}
      ]
      const answer = yield* page(listOf(records), undefined, 8)
      assert.deepStrictEqual(answer["items"], records)
      assert.strictEqual(answer.message, "a1 first\n2 t\n{}\nNo more.")
    }))

  it.effect.prop(
    "costs no more than it may, and a walk gives each record once, however long they are",
    [fc.array(anyRecord, { maxLength: 12 }), fc.integer({ min: 1, max: 15 })],
    ([records, limit]) =>
      Effect.map(walked(records, limit), (seen) => assert.deepStrictEqual(seen, records.map(recordOf)))
  )
})
