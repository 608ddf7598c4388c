import { assert, describe, it } from "@effect/vitest"
import { Imports } from "@stevedore/core"
import { Effect } from "effect"
import { fakeService, json } from "./fixtures/fakeService.js"

const wanted = { fileId: "f1", projectId: "p1", title: "First", fields: { Speaker: "Ada" } }

describe("Imports.file", () => {
  it.effect("is not sent again if it may have arrived, since that would make a second entry", () =>
    Effect.gen(function*() {
      const service = fakeService(() => Effect.fail("reset" as const))
      const error = yield* Effect.flip(Effect.provide(Imports.file(wanted), service.layer))
      assert.strictEqual(error._tag, "ConnectionFailed")
      assert.lengthOf(service.received, 1)
    }))

  it.effect("is one POST, and returns the entry's id", () =>
    Effect.gen(function*() {
      const service = fakeService(() => json({ data: { id: "d1", title: "First" } }))
      assert.deepStrictEqual(yield* Effect.provide(Imports.file(wanted), service.layer), { id: "d1" })
      assert.deepStrictEqual(service.received.map(({ method, path }) => [method, path]), [
        ["POST", "/v1/data/import/file"]
      ])
    }))

  it.effect.each([["7", "7"], ["9007199254740993", "9007199254740993"], ["\"7\"", "7"]] as const)(
    "returns the entry's id as text, however it comes: %s",
    ([wire, id]) =>
      Effect.gen(function*() {
        const service = fakeService(() => new Response(`{"data":{"id":${wire}}}`))
        assert.deepStrictEqual(yield* Effect.provide(Imports.file(wanted), service.layer), { id })
      })
  )

  it.effect.each([{}, { data: {} }, { data: { id: null } }, null])(
    "takes any success for one: %j",
    (body) =>
      Effect.gen(function*() {
        const service = fakeService(() => json(body))
        assert.deepStrictEqual(yield* Effect.provide(Imports.file(wanted), service.layer), {})
      })
  )
})
