import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import * as Identifiers from "../../src/parts/identifiers.js"

describe("Identifiers", () => {
  it.effect("have the formats of the contract", () =>
    Effect.gen(function*() {
      assert.match(yield* Identifiers.recordId, /^[0-9A-Za-z]{22}$/)
      assert.match(yield* Identifiers.requestId, /^[0-9A-F]{16}$/)
      assert.match(yield* Identifiers.etag, /^"[0-9a-f]{32}"$/)
      assert.match(yield* Identifiers.uploadId, /^[0-9A-Za-z]{96}$/)
    }))

  it.effect("are the same for the same seed, and differ within a run", () =>
    Effect.gen(function*() {
      const run = Effect.withRandom(Effect.all([Identifiers.recordId, Identifiers.recordId]), Random.make("seed"))
      const [first, second] = yield* run
      assert.notStrictEqual(first, second)
      assert.deepStrictEqual(
        yield* Effect.withRandom(Effect.all([Identifiers.recordId, Identifiers.recordId]), Random.make("seed")),
        [first, second]
      )
    }))
})
