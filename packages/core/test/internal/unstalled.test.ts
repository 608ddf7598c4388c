import { assert, describe, it } from "@effect/vitest"
import { Recorder } from "@stevedore/testing"
import { Chunk, Duration, Effect, Exit, Fiber, Option, Ref, Stream, TestClock } from "effect"
import * as Pull from "../../src/base/pull.js"
import * as Unstalled from "../../src/base/unstalled.js"
import { settableWallClock } from "../fixtures/wallClock.js"

const unstalled = <A, E, E2>(stream: Stream.Stream<A, E>, limit: Duration.Duration, onStall: () => E2) =>
  Stream.unwrapScoped(
    Pull.ofStream(stream).pipe(
      Effect.flatMap((pull) => Unstalled.unstalled(pull, limit, onStall)),
      Effect.map((pull) => Stream.repeatEffectOption(pull))
    )
  )

const limit = Duration.seconds(10)

describe("unstalled", () => {
  it.effect("changes nothing of a stream that goes on, however long it takes in all", () =>
    Effect.gen(function*() {
      const slow = Stream.range(1, 20).pipe(Stream.rechunk(1), Stream.tap(() => Effect.sleep("9 seconds")))
      const fiber = yield* Effect.fork(Stream.runCollect(unstalled(slow, limit, () => "stalled")))
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(yield* Fiber.join(fiber)),
        Array.from({ length: 20 }, (_, i) => i + 1)
      )
    }))

  it.effect("fails after the limit without a chunk, and ends what it waited for", () =>
    Effect.gen(function*() {
      const ended = yield* Ref.make(false)
      const stuck = Stream.concat(Stream.make(1), Stream.fromEffect(Effect.never)).pipe(
        Stream.ensuring(Ref.set(ended, true))
      )
      const seen = yield* Ref.make(0)
      const fiber = yield* Effect.fork(
        Stream.runForEach(unstalled(stuck, limit, () => "stalled"), () => Ref.update(seen, (n) => n + 1))
      )
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual((yield* Fiber.poll(fiber))._tag, "None")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.fail("stalled"))
      assert.strictEqual(yield* Ref.get(seen), 1)
      assert.isTrue(yield* Ref.get(ended))
    }))

  it.effect("does not take a slow consumer for a stall", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(
        Stream.runForEach(unstalled(Stream.make(1, 2, 3), limit, () => "stalled"), () => Effect.sleep("1 minute"))
      )
      yield* TestClock.adjust("3 minutes")
      assert.deepStrictEqual(yield* Fiber.await(fiber), Exit.void)
    }))

  it.effect("fails after the limit also when the wall clock is set back meanwhile", () =>
    Effect.gen(function*() {
      const wall = yield* settableWallClock
      const stuck = Stream.runDrain(unstalled(Stream.never, limit, () => "stalled"))
      const fiber = yield* Effect.fork(wall.within(stuck))
      yield* TestClock.adjust("1 second")
      wall.set("2 hours", "back")
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* Effect.map(Fiber.poll(fiber), Option.getOrUndefined), Exit.fail("stalled"))
    }))

  it.effect("does not fail when the wall clock is set ahead while a chunk is on its way", () =>
    Effect.gen(function*() {
      const wall = yield* settableWallClock
      const slow = Stream.fromEffect(Effect.delay(Effect.succeed(1), "9 seconds"))
      const fiber = yield* Effect.fork(
        wall.within(Stream.runCollect(unstalled(Stream.concat(slow, slow), limit, () => "stalled")))
      )
      yield* TestClock.adjust("9500 millis")
      wall.set("2 hours", "ahead")
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Fiber.join(fiber)), [1, 1])
    }))

  it.effect("keeps the stream's own failure, and ends at once when it is interrupted", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(Stream.runDrain(unstalled(Stream.fail("own"), limit, () => "stalled")))
      assert.strictEqual(failure, "own")
      const ended = yield* Ref.make(false)
      const stuck = Stream.fromEffect(Effect.never).pipe(Stream.ensuring(Ref.set(ended, true)))
      const fiber = yield* Effect.fork(Stream.runDrain(unstalled(stuck, limit, () => "stalled")))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      assert.isTrue(yield* Ref.get(ended))
    }))

  it.effect.each([
    { what: "its stream does", stream: Stream.make(1), end: Exit.void },
    { what: "nothing comes", stream: Stream.never, end: Exit.fail("stalled") }
  ])(
    "ends when $what, also where nothing may be interrupted, as in acquireRelease",
    ({ end, stream }) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkDaemon(
          Effect.uninterruptible(Stream.runDrain(unstalled(stream, limit, () => "stalled")))
        )
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* Effect.map(Fiber.poll(fiber), Option.getOrUndefined), end)
      })
  )

  it.effect("is not cut where it may not be interrupted, though somebody tries to while a chunk is on its way", () =>
    Effect.gen(function*() {
      const got = yield* Ref.make(Option.none<Exit.Exit<number, Option.Option<string>>>())
      const slow: Pull.Pull<number, never> = Effect.delay(Effect.succeed(1), "5 seconds")
      const one = Effect.flatMap(
        Unstalled.unstalled(slow, limit, () => "stalled"),
        (pull) => Effect.flatMap(Effect.exit(pull), (exit) => Ref.set(got, Option.some(exit)))
      )
      const fiber = yield* Effect.fork(Effect.uninterruptible(Effect.scoped(one)))
      yield* TestClock.adjust("2 seconds")
      yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* Ref.get(got), Option.some(Exit.succeed(1)))
    }))

  it.effect("ends without a word in the log: that nothing more comes is no error that nobody handled", () =>
    Effect.gen(function*() {
      yield* Stream.runDrain(unstalled(Stream.make(1), limit, () => "stalled"))
      assert.deepStrictEqual(yield* Recorder.logs, [])
    }).pipe(Effect.provide(Recorder.layer)))
})
