import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as RetryBudget from "../../src/service/retryBudget.js"
import { failure, timesOf } from "../fixtures/retryPolicy.js"

describe("RetryPolicy", () => {
  describe("a budget", () => {
    it.effect("shared by many failing requests bounds their number", () =>
      Effect.gen(function*() {
        const budget = RetryBudget.forUpload({ attempts: 5, concurrency: 4 })
        const counts = yield* Effect.forEach(
          Array.from({ length: 40 }),
          () => timesOf((attempt) => failure("retry", attempt), {}, { budget })
        )
        assert.strictEqual(counts.reduce((sum, { times }) => sum + times.length, 0), 40 + 100)
      }))
  })
})
