import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Option, Stream, TestClock } from "effect"
import { fetchedAhead } from "../../src/internal/fetchedAhead.js"

const step = (place: number) => Effect.succeed([place, place < 5 ? Option.some(place + 1) : Option.none()] as const)

describe("fetchedAhead", () => {
  it.live("gives the defect of what says whether to hurry, instead of waiting for ever", () =>
    Effect.gen(function*() {
      const exit = yield* fetchedAhead(0, step, { ahead: 1, mayHurry: Effect.die("broken") }).pipe(
        Stream.runForEach(() => Effect.sleep("1 millis")),
        Effect.exit,
        Effect.timeoutOption("1 second")
      )
      assert.deepStrictEqual(exit, Option.some(Exit.failCause(Cause.die("broken"))))
    }))

  it.effect("ends when enough was taken, also where nothing may be interrupted, as in acquireRelease", () =>
    Effect.gen(function*() {
      const two = fetchedAhead(0, step, { ahead: 1, mayHurry: Effect.succeed(true) }).pipe(
        Stream.take(2),
        Stream.runCount
      )
      const fiber = yield* Effect.forkDaemon(Effect.uninterruptible(two))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.poll(fiber), Option.some(Exit.succeed(2)))
    }))
})
