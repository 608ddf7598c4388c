import { assert, describe, it } from "@effect/vitest"
import { Recovery } from "@stevedore/core"
import { Duration, FastCheck as fc, Schema } from "effect"

const failure = (recovery: Recovery.Recovery, attempts = 1): Recovery.Recoverable => ({ recovery, attempts })

describe("Recovery", () => {
  it.prop("whatever the number of attempts, retry and slowDown are retryable, newSession and none are not", {
    attempts: fc.nat()
  }, ({ attempts }) => {
    assert.isTrue(Recovery.isRepeatable(failure("retry", attempts)))
    assert.isTrue(Recovery.isRepeatable(failure("slowDown", attempts)))
    assert.isFalse(Recovery.isRepeatable(failure("newSession", attempts)))
    assert.isFalse(Recovery.isRepeatable(failure("none", attempts)))
  })

  it.prop("retryOnce is retryable after the first attempt and never again", { attempts: fc.nat() }, ({ attempts }) => {
    assert.strictEqual(Recovery.isRepeatable(failure("retryOnce", attempts)), attempts <= 1)
  })

  it("says in words how often a request was made", () => {
    assert.strictEqual(Recovery.describeAttempts(failure("none", 0)), "nothing was sent")
    assert.strictEqual(Recovery.describeAttempts(failure("none", 1)), "after 1 attempt")
    assert.strictEqual(Recovery.describeAttempts(failure("none", 5)), "after 5 attempts")
  })

  it("says in words how long the server asks to wait, and nothing if it does not ask", () => {
    assert.strictEqual(Recovery.describeWait(failure("slowDown")), "")
    assert.include(
      Recovery.describeWait({ ...failure("slowDown"), retryAfter: Duration.seconds(90) }),
      "the server asks to wait 1m 30s"
    )
  })

  it.prop("a finite time is a number of milliseconds on the wire", { millis: fc.maxSafeNat() }, ({ millis }) => {
    assert.strictEqual(Schema.encodeSync(Recovery.FiniteDuration)(Duration.millis(millis)), millis)
  })

  it("an infinite time has no form on the wire", () => {
    assert.isFalse(Schema.is(Recovery.FiniteDuration)(Duration.infinity))
  })
})
