import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import { FaultScript, Recorder } from "@stevedore/testing"
import { Clock, Duration, Effect, Exit, Fiber, Option, TestClock } from "effect"
import { inOwnFiber, untilTimer } from "../../src/base/ownFiber.js"
import { inTime, sourceOf, tiny } from "../fixtures/uploads.js"

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
