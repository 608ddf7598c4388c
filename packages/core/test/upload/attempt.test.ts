import { assert, describe, it } from "@effect/vitest"
import { Recorder } from "@stevedore/testing"
import { Clock, Duration, Effect, Either, Fiber, Option, TestClock } from "effect"
import * as ServerClock from "../../src/base/clock.js"
import * as AttemptWatch from "../../src/upload/attempt.js"
import { onCut, type Put, receipt, timers, watched } from "../fixtures/attemptWatch.js"
import { settableWallClock } from "../fixtures/wallClock.js"

const phaseOf = (put: Put, after: string & `${number} seconds`) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.flip(watched(put)))
    yield* TestClock.adjust(after)
    const error = yield* Fiber.join(fiber)
    return error._tag === "TimedOut" ? error.phase : error._tag
  })

describe("AttemptWatch", () => {
  it.effect("if no byte is taken, the connection times out", () =>
    Effect.map(phaseOf(() => Effect.never, "30 seconds"), (phase) => assert.strictEqual(phase, "connect")))

  it.effect("a body without progress is a timeout of the body", () =>
    Effect.map(
      phaseOf((onSent) => Effect.zipRight(Effect.sync(() => onSent(3)), Effect.never), "61 seconds"),
      (phase) => assert.strictEqual(phase, "body")
    ))

  it.effect("a complete body without a response is a timeout of the response", () =>
    Effect.map(
      phaseOf((onSent) => Effect.zipRight(Effect.sync(() => onSent(9)), Effect.never), "121 seconds"),
      (phase) => assert.strictEqual(phase, "answer")
    ))

  it.effect("a timeout is told in whole milliseconds, whatever the bytes and the measurements are divided by", () =>
    Effect.gen(function*() {
      const put: Put = (onSent) => Effect.zipRight(Effect.sync(() => onSent(265_624)), Effect.never)
      const fiber = yield* Effect.fork(Effect.flip(watched(put, 1_000_000)))
      yield* TestClock.adjust("69 seconds")
      const error = yield* Fiber.join(fiber)
      assert.include(error.message, "1m 8s 107ms (")
    }))

  it.effect("an attempt whose bytes nobody counted teaches nothing about how long they take", () =>
    Effect.gen(function*() {
      const serverClock = yield* ServerClock.make
      const samples: Array<AttemptWatch.Sample> = []
      const noting = { ...timers(), observe: (sample: AttemptWatch.Sample) => void samples.push(sample) }
      const one = (put: Put) =>
        AttemptWatch.watched({
          put,
          length: 9,
          attempts: 1,
          serverClock,
          timers: noting,
          look: Effect.void,
          onCut
        })
      yield* one(() => Effect.succeed(receipt))
      assert.lengthOf(samples, 0)
      yield* one((onSent) => Effect.as(Effect.sync(() => onSent(9)), receipt))
      assert.lengthOf(samples, 1)
    }))

  it.effect("a connection that was fast and is now slow gets twice the time after each timeout", () =>
    Effect.gen(function*() {
      const serverClock = yield* ServerClock.make
      const shared = timers()
      const answeredAfter = (seconds: number) =>
        Effect.gen(function*() {
          const put: Put = (onSent) =>
            Effect.zipRight(Effect.sync(() => onSent(9)), Effect.as(Effect.sleep(Duration.seconds(seconds)), receipt))
          const watch = { put, length: 9, attempts: 1, serverClock, timers: shared, look: Effect.void, onCut }
          const fiber = yield* Effect.fork(Effect.either(AttemptWatch.watched(watch)))
          yield* TestClock.adjust(Duration.seconds(seconds))
          return Either.isRight(yield* Fiber.join(fiber))
        })
      yield* Effect.repeatN(answeredAfter(0.1), 2)
      assert.deepStrictEqual(yield* Effect.all([answeredAfter(15), answeredAfter(15)]), [false, true])
    }))

  it.effect("an attempt during which the computer slept is dropped, and is not a failure", () =>
    Effect.gen(function*() {
      const wall = yield* settableWallClock
      let closed = false
      const put: Put = (onSent) =>
        Effect.zipRight(Effect.sync(() => onSent(3)), Effect.never).pipe(
          Effect.onInterrupt(() =>
            Effect.sync(() => {
              closed = true
            })
          )
        )
      const fiber = yield* Effect.fork(wall.within(watched(put)))
      yield* TestClock.adjust("10 seconds")
      wall.set("1 hour", "ahead")
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
      assert.isTrue(closed)
    }))

  it.effect("an attempt during which the computer slept is dropped, even if the monotonic clock went on as on macOS", () =>
    Effect.gen(function*() {
      const clock = yield* Effect.clock
      let slept = Duration.zero
      const late: Clock.Clock = {
        [Clock.ClockTypeId]: Clock.ClockTypeId,
        unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis(),
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
        currentTimeMillis: clock.currentTimeMillis,
        currentTimeNanos: clock.currentTimeNanos,
        sleep: (wait) => clock.sleep(Duration.sum(wait, slept))
      }
      const put: Put = (onSent) => Effect.zipRight(Effect.sync(() => onSent(3)), Effect.never)
      const fiber = yield* Effect.fork(Effect.withClock(watched(put), late))
      yield* TestClock.adjust("3 seconds")
      slept = Duration.hours(1)
      yield* TestClock.adjust("65 minutes")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
    }))

  it.effect("an attempt that is cut off is dropped at once, is not a failure, and leaves nothing to call", () =>
    Effect.gen(function*() {
      const calls = new Set<() => void>()
      let closed = false
      const put: Put = () =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => {
            closed = true
          }))
      const fiber = yield* Effect.fork(AttemptWatch.watched({
        put,
        length: 9,
        attempts: 1,
        serverClock: yield* ServerClock.make,
        timers: timers(),
        look: Effect.void,
        onCut: (cut) => {
          calls.add(cut)
          return () => void calls.delete(cut)
        }
      }))
      yield* TestClock.adjust("1 seconds")
      calls.forEach((cut) => cut())
      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
      assert.isTrue(closed)
      assert.strictEqual(calls.size, 0)
    }))

  it.effect.each(
    [
      [1, "is dropped at once where much is left", Option.none(), 1],
      [8, "may end where little is left", Option.some(receipt), 2],
      [9, "is dropped soon after, whether little was left or nothing", Option.none(), 10]
    ] as const
  )("when told to, an attempt that has sent %d of 9 bytes %s", ([sent, , end, seconds]) =>
    Effect.gen(function*() {
      let cutNow = () => {}
      const put: Put = (onSent) =>
        Effect.sleep("1 second").pipe(
          Effect.zipRight(Effect.sync(() => onSent(sent))),
          Effect.zipRight(sent === 9 ? Effect.never : Effect.sleep("1 second")),
          Effect.as(receipt)
        )
      const fiber = yield* Effect.fork(AttemptWatch.watched({
        put,
        length: 9,
        attempts: 1,
        serverClock: yield* ServerClock.make,
        timers: timers(),
        look: Effect.void,
        onCut: (cut) => {
          cutNow = cut
          return () => {}
        }
      }))
      yield* TestClock.adjust("1 seconds")
      cutNow()
      yield* TestClock.adjust(`${seconds - 1} seconds`)
      assert.deepStrictEqual(yield* Fiber.join(fiber), end)
    }))

  it.effect("successful attempts teach the timers how fast the connection can be", () =>
    Effect.gen(function*() {
      const learning = timers()
      const serverClock = yield* ServerClock.make
      const put: Put = (onSent) =>
        Effect.sleep("1 seconds").pipe(Effect.zipRight(Effect.sync(() => onSent(9))), Effect.as(receipt))
      const watchedOnce = (one: Put) =>
        AttemptWatch.watched({
          put: one,
          length: 9,
          attempts: 1,
          serverClock,
          timers: learning,
          look: Effect.void,
          onCut
        })
      for (let attempt = 0; attempt < 3; attempt++) {
        const fiber = yield* Effect.fork(watchedOnce(put))
        yield* TestClock.adjust("1 seconds")
        yield* Fiber.join(fiber)
      }
      const stalled = yield* Effect.fork(Effect.flip(watchedOnce(() => Effect.never)))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(stalled))._tag, "TimedOut")
    }))

  it.effect("a failure belongs to whoever made the attempt: the log does not call it unhandled", () =>
    Effect.gen(function*() {
      const serverClock = yield* ServerClock.make
      const watch = { length: 9, attempts: 1, serverClock, timers: timers(), onCut }
      const refused = AttemptWatch.watched({ ...watch, put: () => Effect.fail("refused"), look: Effect.void })
      const slow = AttemptWatch.watched({ ...watch, put: () => Effect.never, look: Effect.fail("too slow") })
      const fiber = yield* Effect.fork(Effect.all([Effect.flip(refused), Effect.flip(slow)]))
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), ["refused", "too slow"])
      assert.deepStrictEqual(yield* Recorder.logs, [])
    }).pipe(Effect.provide(Recorder.layer)))

  it.effect("the check that runs every five seconds can end the attempt", () =>
    Effect.gen(function*() {
      let looks = 0
      const serverClock = yield* ServerClock.make
      const look = Effect.suspend(() => ++looks === 3 ? Effect.fail("too slow") : Effect.void)
      const fiber = yield* Effect.fork(
        Effect.flip(
          AttemptWatch.watched({
            put: () => Effect.never,
            length: 9,
            attempts: 1,
            serverClock,
            timers: timers(),
            look,
            onCut
          })
        )
      )
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "too slow")
    }))
})
