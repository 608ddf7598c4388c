import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { lazily } from "../../src/base/lazily.js"

describe("a module that is loaded once it is needed", () => {
  it.effect("is loaded once for all, fails as it was said where it cannot be, and is then asked for again", () =>
    Effect.gen(function*() {
      let loads = 0
      const module = lazily(
        () => ++loads < 3 ? Promise.reject(new TypeError("Failed to fetch")) : Promise.resolve(loads),
        () => "gone"
      )
      const ends = yield* Effect.all(Array.from({ length: 5 }, () => Effect.merge(module)))
      assert.deepStrictEqual(ends, ["gone", "gone", 3, 3, 3])
      assert.strictEqual(loads, 3)
    }))
})
