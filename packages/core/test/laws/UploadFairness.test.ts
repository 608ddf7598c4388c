import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { gateOfAPage, sharedLine } from "../fixtures/sharedLine.js"
import { firsts, gates, line, MB, secondsNow, started, startOf } from "../fixtures/uploadFairness.js"
import { inVirtualTime } from "../fixtures/virtualTime.js"

describe.each(gates)("several files on a slow line, through a gate $called", ({ gate, within }) => {
  it.effect("a small one is soon done, and none waits for a large one", () =>
    inVirtualTime(
      Effect.gen(function*() {
        const large = yield* Effect.forEach([250, 90], started)
        const small = yield* started(5.2)
        const begun = yield* Effect.fork(Effect.forEach([...large, small], firsts, { concurrency: "unbounded" }))
        yield* small.await
        assert.isAtMost(yield* secondsNow, within)
        for (const [sent] of yield* Fiber.join(begun)) assert.isAtMost(sent ?? Infinity, 5)
      }).pipe(Effect.scoped, Effect.provide(sharedLine(line, gate))),
      startOf
    ))
})

describe("a page on a slow line", () => {
  // the first of 32 parts: more of them would be more requests on a line that is fast
  it.effect.each([[2, 5], [1, 10], [0.2, 40]] as const)(
    "has a receipt early: %s MB/s",
    ([speed, within]) =>
      inVirtualTime(
        Effect.gen(function*() {
          const [, confirmed = Infinity] = yield* Effect.flatMap(started(250), firsts)
          assert.isAtMost(confirmed, within)
        }).pipe(Effect.scoped, Effect.provide(sharedLine(speed * MB, gateOfAPage))),
        startOf
      )
  )

  it.effect.each([12, 17, 24, 25, 26, 27, 28, 40])(
    "keeps most of what it has sent when it is paused after %d s",
    (seconds) =>
      inVirtualTime(
        Effect.gen(function*() {
          const upload = yield* started(250)
          yield* Effect.sleep(`${seconds} seconds`)
          const { sent } = yield* upload.progress.get
          yield* upload.pause
          yield* Effect.sleep("20 seconds")
          const { confirmed, sent: kept } = yield* upload.progress.get
          assert.strictEqual(kept, confirmed)
          assert.isAtLeast(confirmed, 0.8 * sent)
          yield* Effect.sleep("1 minute")
          assert.strictEqual((yield* upload.progress.get).sent, kept)
        }).pipe(Effect.scoped, Effect.provide(sharedLine(line, gateOfAPage))),
        startOf
      )
  )
})
