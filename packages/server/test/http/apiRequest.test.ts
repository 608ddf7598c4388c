import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile } from "@stevedore/core"
import { Effect } from "effect"
import { vi } from "vitest"
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

  const nested = (open: string, close: string, times: number) => open.repeat(times) + close.repeat(times)
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, "1"]))
  const long = "\u0001\"n".repeat(1_000_000)

  it.effect.each(
    [
      ["deep lists", `{"a":${nested("[", "]", 2_000_000)}}`, 0],
      ["deep objects", `{"a":${nested("{\"a\":", "", 600_000)}}`, 0],
      ["fields that it does not know", JSON.stringify(many(200_000)), 0],
      ["values of a list", `{"a":[${"1,".repeat(2_000_000)}1]}`, 0],
      ["names of metadata", JSON.stringify({ name: "a", size: 1, metadata: many(60_000) }), 1],
      ["a name", JSON.stringify({ name: long, size: 1 }), 1],
      ["a type", JSON.stringify({ name: "a", size: 1, type: long }), 1],
      ["escaped brackets, which are text", JSON.stringify({ name: "[{,\\\"".repeat(200_000), size: "x" }), 1]
    ] as const
  )(
    "is refused in few words, and before anything is made of it where it is too much: %s",
    ([, text, parsed]) =>
      Effect.gen(function*() {
        const parse = vi.spyOn(JSON, "parse")
        const { errors, status } = yield* Effect.flip(parseInitiate(text, { ...names, metadata: "metadata" }))
        assert.strictEqual(parse.mock.calls.length, parsed)
        parse.mockRestore()
        assert.strictEqual(status, 400)
        assert.isAtMost(JSON.stringify(errors).length, 65_536)
      })
  )

  it.effect("is told with its place, whatever is wrong in a long list", () =>
    Effect.gen(function*() {
      const parts = Array.from(
        { length: 9_000 },
        (_, index) => ({ part_number: index + 1, etag: index === 8_000 ? 5 : "e" })
      )
      const { errors } = yield* Effect.flip(completed(parts))
      assert.deepStrictEqual(errors.map(({ path }) => path), ["parts.8000.etag"])
    }))

  it.effect("has as many parts as there may be", () =>
    Effect.gen(function*() {
      const parts = Array.from({ length: 10_000 }, (_, index) => ({ part_number: index + 1, etag: "e" }))
      assert.lengthOf((yield* completed(parts)).parts, 10_000)
      const { errors } = yield* Effect.flip(completed([...parts, ...parts]))
      assert.deepStrictEqual(errors.map(({ message }) => message), ["Expected at most 10000 parts"])
    }))
})
