/** How an effect runs. */
import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import { FaultScript, Recorder } from "@stevedore/testing"
import { Chunk, Clock, Duration, Effect, Exit, Fiber, Option, Ref, Stream, TestClock } from "effect"
import * as Pull from "../../src/base/effect.js"
import * as Unstalled from "../../src/base/fibers.js"
import { inOwnFiber, lazily, untilTimer } from "../../src/base/fibers.js"
import { inTime, sourceOf, tiny } from "../fixtures/uploads.js"
import { settableWallClock } from "../fixtures/wallClock.js"

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

const failing = Effect.zipRight(Effect.sleep("1 second"), Effect.fail("beside it"))

const beside = <A, E>(effect: Effect.Effect<A, E>) => Effect.all([effect, failing], { concurrency: 2 })

describe("inOwnFiber", () => {
  it.effect("what races ends at once with the failure of what runs beside it, before that is known", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const say = (what: string) => Effect.sync(() => void heard.push(what))
      const racing = Effect.raceFirst(Effect.onInterrupt(Effect.never, () => say("interrupted")), Effect.never)
      const fiber = yield* Effect.fork(Effect.catchAll(beside(inOwnFiber(racing)), () => say("failed")))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(heard, ["interrupted", "failed"])
    }))

  it.effect("what has a time-out is not waited for", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(beside(inOwnFiber(Effect.timeout(Effect.never, "1 hour"))))
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* Fiber.poll(fiber))._tag === "Some")
    }))

  it.effect("gives what the effect gives, and its failure", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Effect.exit(inOwnFiber(Effect.succeed(1))), Exit.succeed(1))
      assert.deepStrictEqual(yield* Effect.exit(inOwnFiber(Effect.fail("no"))), Exit.fail("no"))
    }))

  it.effect("a failure is for whoever runs it: the log does not say that it is unhandled", () =>
    Effect.gen(function*() {
      yield* Effect.exit(inOwnFiber(Effect.fail("no")))
      assert.deepStrictEqual(yield* Recorder.logs, [])
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("an upload whose neighbour fails lets go of its call at once", () =>
    Effect.gen(function*() {
      const began = yield* Clock.currentTimeMillis
      const both = Effect.forEach([sourceOf(0), sourceOf(95)], (source) => Uploads.upload(source), { concurrency: 2 })
      const error = yield* inTime(Effect.flip(both))
      assert.strictEqual(error._tag, "EmptySource")
      assert.isBelow((yield* Clock.currentTimeMillis) - began, 6000)
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("initiate").delay("25 seconds") }))))
})

describe("untilTimer", () => {
  const late = Effect.fail("late")
  const minute = Duration.minutes(1)

  /** What is said when an effect that never ends is interrupted, after a second. */
  const endless = (heard: Array<string>) =>
    Effect.onInterrupt(
      Effect.never,
      () => Effect.zipRight(Effect.sleep("1 second"), Effect.sync(() => void heard.push("interrupted")))
    )

  it.effect("gives what ends first, and its failure, even in an uninterruptible region", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Effect.exit(untilTimer(Effect.succeed(1), minute, late)), Exit.succeed(1))
      assert.deepStrictEqual(yield* Effect.exit(untilTimer(Effect.fail("no"), minute, late)), Exit.fail("no"))
      const heard: Array<string> = []
      const fiber = yield* Effect.fork(Effect.exit(Effect.uninterruptible(untilTimer(endless(heard), minute, late))))
      yield* TestClock.adjust("59 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.fail("late"))
      assert.deepStrictEqual(heard, ["interrupted"])
    }))

  it.effect("stops the timer, but does not wait for it", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const fiber = yield* Effect.fork(
        untilTimer(Effect.as(Effect.sleep("1 second"), 1), Duration.zero, endless(heard))
      )
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), 1)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(heard, ["interrupted"])
    }))

  it.effect("ends when it is cut, or interrupted, once nothing of the effect is running", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const cuts = new Set<() => void>()
      const run = untilTimer(endless(heard), minute, late, (cut: (result: Effect.Effect<string>) => void) => {
        const one = () => cut(Effect.succeed("cut"))
        cuts.add(one)
        return () => cuts.delete(one)
      })
      const fibers = [yield* Effect.fork(run), yield* Effect.fork(run)] as const
      yield* Effect.yieldNow()
      const [first] = cuts
      first?.()
      const interrupting = yield* Effect.fork(Fiber.interrupt(fibers[1]))
      yield* Effect.yieldNow()
      assert.deepStrictEqual(yield* Effect.all(fibers.map(Fiber.poll)), [Option.none(), Option.none()])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fibers[0]), "cut")
      yield* Fiber.join(interrupting)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fibers[1])))
      assert.deepStrictEqual([heard.length, cuts.size], [2, 0])
    }))
})

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
