import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { receipt, watched } from "../../fixtures/attemptWatch.js"

describe("AttemptWatch", () => {
  it.effect("a body that makes progress never times out, however long it takes", () =>
    Effect.gen(function*() {
      const slowly = (onSent: (bytes: number) => void) =>
        Effect.as(
          Effect.repeat(Effect.zipRight(Effect.sync(() => onSent(1)), Effect.sleep("59 seconds")), { times: 99 }),
          receipt
        )
      const fiber = yield* Effect.fork(watched(slowly, 100))
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.some(receipt))
    }))

  it.effect("a wait for the bandwidth limit counts for no phase, and what follows it does", () =>
    Effect.gen(function*() {
      const put = (onSent: (bytes: number) => void, onWait: (waits: boolean) => void) => {
        const waited = (bytes: number) =>
          Effect.sync(() => onWait(true)).pipe(
            Effect.zipRight(Effect.sleep("1 hour")),
            Effect.zipRight(Effect.sync(() => {
              onWait(false)
              onSent(bytes)
            }))
          )
        return waited(3).pipe(Effect.zipRight(waited(3)), Effect.zipRight(Effect.never))
      }
      const fiber = yield* Effect.fork(Effect.flip(watched(put)))
      yield* TestClock.adjust("2 hours")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* Fiber.join(fiber)).phase, "body")
    }))

  it.effect("bytes that are handed over at once get the time that a slow connection takes for them", () =>
    Effect.gen(function*() {
      const length = 67_108_864
      const fiber = yield* Effect.fork(watched(
        (onSent) => Effect.zipRight(Effect.sync(() => onSent(length)), Effect.as(Effect.sleep("30 minutes"), receipt)),
        length
      ))
      yield* TestClock.adjust("30 minutes")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.some(receipt))
    }))
})
