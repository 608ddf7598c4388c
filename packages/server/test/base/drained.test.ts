import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { drained } from "../../src/base/drained.js"

/** How many seconds the finalizer of a fiber takes that is interrupted. */
const secondsOf = (underWay: Effect.Effect<unknown>) =>
  Effect.gen(function*() {
    const service = yield* Effect.fork(
      Effect.scoped(Effect.zipRight(Effect.addFinalizer(() => drained(underWay, "30 seconds")), Effect.never))
    )
    yield* TestClock.adjust(0)
    const ended = yield* Effect.fork(
      Effect.zipRight(Fiber.interrupt(service), Effect.clockWith((clock) => clock.currentTimeMillis))
    )
    for (let second = 0; second < 100 && ended.unsafePoll() === null; second++) yield* TestClock.adjust("1 second")
    return (yield* Fiber.join(ended)) / 1000
  })

describe("the end of a service that is interrupted", () => {
  it.effect("waits for what is under way, and no longer than it may", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* secondsOf(Effect.sleep("5 seconds")), 5)
    }))

  it.effect("gives up what does not end", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* secondsOf(Effect.never), 30)
    }))

  it.effect("is at once where nothing is under way", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* secondsOf(Effect.void), 0)
    }))
})
