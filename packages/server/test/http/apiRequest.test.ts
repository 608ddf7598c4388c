import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile } from "@stevedore/core"
import { Effect } from "effect"
import { parseCompleteLarge, parseInitiate } from "../../src/http/apiRequest.js"

const names = ServiceProfile.standard.fields

const completed = (parts: ReadonlyArray<unknown>) =>
  parseCompleteLarge(JSON.stringify({ upload_id: "x", parts }), names)

const wrong = (count: number) => Array.from({ length: count }, () => ({}))

describe("what a client sends", () => {
  it.effect("has its own fields, and none by a prototype", () =>
    Effect.gen(function*() {
      const { errors } = yield* Effect.flip(parseInitiate("{\"__proto__\":{\"size\":1},\"name\":\"a\"}", names))
      assert.deepStrictEqual(errors.map(({ path }) => path), ["size"])
    }))

  it.effect.each([1, 200, 5_000, 10_000, 10_001, 200_000])(
    "is refused in few words: %d wrong parts",
    (count) =>
      Effect.gen(function*() {
        const { errors, status } = yield* Effect.flip(completed(wrong(count)))
        assert.strictEqual(status, 400)
        assert.isAtMost(errors.length, 100)
        assert.isAtMost(JSON.stringify(errors).length, 65_536)
      })
  )

  it.effect("has as many parts as there may be", () =>
    Effect.gen(function*() {
      const parts = Array.from({ length: 10_000 }, (_, index) => ({ part_number: index + 1, etag: "e" }))
      assert.lengthOf((yield* completed(parts)).parts, 10_000)
      const { errors } = yield* Effect.flip(completed([...parts, ...parts]))
      assert.deepStrictEqual(errors.map(({ message }) => message), ["Expected at most 10000 parts"])
    }))
})
