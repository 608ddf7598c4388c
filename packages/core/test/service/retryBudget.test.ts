import { assert, describe, it } from "@effect/vitest"
import { type Recovery } from "@stevedore/core"
import { Duration, FastCheck as fc } from "effect"
import * as RetryBudget from "../../src/service/retryBudget.js"

const failure = (fields: Partial<Recovery.Recoverable> = {}): Recovery.Recoverable => ({
  recovery: "retry",
  attempts: 1,
  ...fields
})

describe("RetryBudget", () => {
  it("100 retries without a success use it up", () => {
    const budget = RetryBudget.make()
    for (let repeat = 0; repeat < 100; repeat++) assert.isTrue(budget.spend(failure()))
    assert.isFalse(budget.spend(failure()))
  })

  it("a success returns what its last retry cost, or 1 if it needed none", () => {
    const budget = RetryBudget.make(10)
    budget.spend(failure())
    budget.refund(2)
    assert.strictEqual(budget.left(), 10)
    budget.spend(failure())
    budget.refund(1)
    assert.strictEqual(budget.left(), 6)
  })

  it("a wait that the service asked for costs nothing", () => {
    const budget = RetryBudget.make(0)
    assert.isTrue(budget.spend(failure({ recovery: "slowDown" })))
    assert.isTrue(budget.spend(failure({ retryAfter: Duration.seconds(1) })))
    assert.isFalse(budget.spend(failure()))
  })

  it.prop("it is never negative and never exceeds its initial value", [
    fc.nat(100),
    fc.array(fc.oneof(fc.constant("spend" as const), fc.integer({ min: 1, max: 5 })))
  ], ([capacity, steps]) => {
    const budget = RetryBudget.make(capacity)
    for (const step of steps) {
      if (step === "spend") budget.spend(failure())
      else budget.refund(step)
      assert.isAtLeast(budget.left(), 0)
      assert.isAtMost(budget.left(), capacity)
    }
  })

  describe("forUpload", () => {
    it("is strict until three parts are stored, then patient, and never retries if retries are off", () => {
      const budget = RetryBudget.forUpload({ attempts: 5, concurrency: 4 })
      const allowed: Array<number> = []
      for (let part = 0; part < 4; part++) {
        allowed.push(budget.attempts(5))
        assert.strictEqual(budget.attempts(1), 1)
        budget.refund(1)
      }
      assert.deepStrictEqual(allowed, [5, 5, 5, 10])
    })

    it.prop("lasts for every attempt of all parts in flight, and is bounded", [
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 32 })
    ], ([attempts, concurrency]) => {
      const budget = RetryBudget.forUpload({ attempts, concurrency })
      for (let repeat = 0; repeat < (2 * attempts - 1) * concurrency; repeat++) assert.isTrue(budget.spend(failure()))
      let more = 0
      while (budget.spend(failure())) more++
      assert.isAtMost(more, 100)
    })

    it("10,000 parts of which every second needs two attempts do not use it up", () => {
      const budget = RetryBudget.forUpload({ attempts: 5, concurrency: 4 })
      for (let part = 0; part < 10_000; part++) {
        const needsTwo = part % 2 === 0
        if (needsTwo) assert.isTrue(budget.spend(failure()))
        budget.refund(needsTwo ? 2 : 1)
      }
      assert.strictEqual(budget.left(), 500)
    })
  })
})
