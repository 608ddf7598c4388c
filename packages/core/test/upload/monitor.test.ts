import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Exit, Fiber, Option, Schema, Stream, TestClock } from "effect"
import * as UploadMonitor from "../../src/upload/monitor.js"

const Step = Schema.Struct({
  length: Schema.Int.pipe(Schema.between(1, 100)),
  sent: Schema.Array(Schema.Int.pipe(Schema.between(0, 150))).pipe(Schema.maxItems(4)),
  end: Schema.Literal("lost", "confirmed", "inFlight")
})

describe("UploadMonitor", () => {
  it.effect.prop(
    "confirmed never decreases and never exceeds what was sent, which never exceeds the size",
    { steps: Schema.Array(Step).pipe(Schema.minItems(1), Schema.maxItems(20)) },
    ({ steps }) =>
      Effect.gen(function*() {
        const size = steps.reduce((sum, step) => sum + step.length, 0)
        const monitor = yield* UploadMonitor.make(size)
        yield* monitor.beginSession(steps.length, [])
        let before = 0
        for (const step of steps) {
          const attempt = monitor.beginAttempt(step.length)
          for (const bytes of step.sent) attempt.sent(bytes)
          if (step.end !== "inFlight") attempt[step.end]()
          const now = yield* monitor.progress.get
          assert.isAtLeast(now.confirmed, before)
          assert.isAtMost(now.confirmed, now.sent)
          assert.isAtMost(now.sent, size)
          before = now.confirmed
        }
        const confirmed = steps.filter((step) => step.end === "confirmed")
        assert.strictEqual(before, confirmed.reduce((sum, step) => sum + step.length, 0))
        assert.strictEqual((yield* monitor.progress.get).parts.confirmed, confirmed.length)
      })
  )

  it.effect("what a lost attempt had sent does not count, not even as speed", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      yield* monitor.beginSession(1, [])
      const attempt = monitor.beginAttempt(100)
      yield* TestClock.adjust("5 seconds")
      attempt.sent(60)
      assert.strictEqual((yield* monitor.progress.get).sent, 60)
      attempt.lost()
      const { sent, speed } = yield* monitor.progress.get
      assert.deepStrictEqual([sent, speed], [0, Option.none()])
    }))

  it.effect.each(["lost", "confirmed"] as const)(
    "an attempt of an earlier session no longer changes anything, whether it is %s",
    (end) =>
      Effect.gen(function*() {
        const monitor = yield* UploadMonitor.make(100)
        yield* monitor.beginSession(2, [])
        monitor.beginAttempt(50).confirmed()
        const late = monitor.beginAttempt(50)
        late.sent(20)
        yield* monitor.beginSession(2, [])
        const isUntouched = Effect.map(monitor.progress.get, ({ confirmed, parts, sent, sessions }) =>
          assert.deepStrictEqual([sent, confirmed, parts, sessions], [0, 50, { total: 2, confirmed: 0 }, 2]))
        late.sent(10)
        yield* isUntouched
        late[end]()
        yield* isUntouched
      })
  )

  it.effect("a resumed session starts with what storage has, which does not count as speed", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      yield* monitor.beginSession(4, [25, 25])
      assert.strictEqual((yield* monitor.progress.get).confirmed, 50)
      const attempt = monitor.beginAttempt(25)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual((yield* monitor.progress.get).speed, Option.none())
      attempt.confirmed()
      const now = yield* monitor.progress.get
      assert.deepStrictEqual(now.speed, Option.some(5))
      assert.deepStrictEqual(now.timeLeft, Option.some(Duration.seconds(5)))
    }))

  it.effect("changes start with the current state, come at most ten times a second, and end with the upload", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      const changes = yield* Effect.fork(Stream.runCollect(monitor.progress.changes))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      yield* monitor.beginSession(100, [])
      yield* monitor.enter("uploading")
      for (let part = 0; part < 100; part++) {
        monitor.beginAttempt(1).confirmed()
        yield* TestClock.adjust("10 millis")
      }
      yield* monitor.enter("completed")
      const seen = Chunk.toReadonlyArray(yield* Fiber.join(changes))
      assert.isAtMost(seen.length, 13)
      assert.strictEqual(seen[0]?.phase, "preparing")
      assert.strictEqual(seen.at(-1)?.phase, "completed")
      assert.strictEqual(seen.at(-1)?.confirmed, 100)
    }))

  it.effect("changes also arrive in an uninterruptible region, as in acquireRelease", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      const three = Stream.runCount(Stream.take(monitor.progress.changes, 3))
      const fiber = yield* Effect.forkDaemon(Effect.uninterruptible(three))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.poll(fiber), Option.some(Exit.succeed(3)))
    }))

  it.effect("changes of a finished upload return its last state and end", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      yield* monitor.enter("failed")
      const seen = yield* Stream.runCollect(monitor.progress.changes)
      assert.deepStrictEqual(Chunk.toReadonlyArray(seen).map((now) => now.phase), ["failed"])
    }))

  it.effect("waiting for a turn does not count as slow: only time in which something is sent counts", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      yield* monitor.beginSession(2, [])
      yield* TestClock.adjust("1 hours")
      const attempt = monitor.beginAttempt(50)
      yield* TestClock.adjust("5 seconds")
      attempt.confirmed()
      yield* TestClock.adjust("1 hours")
      assert.deepStrictEqual((yield* monitor.progress.get).speed, Option.some(10))
    }))

  it.effect("the time left lies between those of the connection's fastest and slowest rate", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100_000)
      yield* monitor.beginSession(1, [])
      const attempt = monitor.beginAttempt(100_000)
      for (let second = 0; second < 40; second++) {
        yield* TestClock.adjust("1 seconds")
        attempt.sent(second % 10 < 5 ? 100 : 300)
      }
      const now = yield* monitor.progress.get
      const likely = Option.getOrThrow(now.timeLeft)
      const { least, most } = Option.getOrThrow(now.timeLeftBetween)
      assert.isTrue(Duration.lessThan(least, likely))
      assert.isTrue(Duration.lessThan(likely, most))
    }))

  it.effect("an upload is stalled after ten seconds without a byte, counted from the last one, and not while it is paused", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      yield* monitor.beginSession(1, [])
      yield* monitor.enter("uploading")
      const attempt = monitor.beginAttempt(100)
      yield* TestClock.adjust("7 seconds")
      attempt.sent(10)
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual((yield* monitor.progress.get).stalledSince, Option.none())
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual((yield* monitor.progress.get).stalledSince, Option.some(new Date(7000)))
      monitor.pause(true)
      yield* TestClock.adjust("1 hours")
      const paused = yield* monitor.progress.get
      assert.deepStrictEqual([paused.phase, paused.stalledSince], ["paused", Option.none()])
    }))

  it.effect.each(
    [
      ["a phase", (monitor) => monitor.enter("uploading")],
      ["a session", (monitor) => monitor.beginSession(1, [])],
      ["resuming", (monitor) => Effect.sync(() => monitor.pause(false))]
    ] satisfies ReadonlyArray<readonly [string, (monitor: UploadMonitor.UploadMonitor) => Effect.Effect<void>]>
  )(
    "an upload is not stalled when %s begins, however long nothing has moved until then",
    ([_, begin]) =>
      Effect.gen(function*() {
        const monitor = yield* UploadMonitor.make(100)
        yield* monitor.enter("uploading")
        yield* TestClock.adjust("1 hours")
        yield* begin(monitor)
        assert.deepStrictEqual((yield* monitor.progress.get).stalledSince, Option.none())
      })
  )

  it.effect("the speed to plan with is known once the connection was watched for ten seconds", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(1000)
      yield* monitor.beginSession(1, [])
      const attempt = monitor.beginAttempt(1000)
      const known: Array<boolean> = []
      for (const wait of ["5 seconds", "4 seconds", "1 seconds"] as const) {
        yield* TestClock.adjust(wait)
        attempt.sent(10)
        known.push(Option.isSome(monitor.speed()))
      }
      assert.deepStrictEqual(known, [false, false, true])
    }))

  it.effect("events start with the earlier ones, and end with the last one", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(100)
      yield* monitor.publish({ _tag: "PartStarted", part: 1, attempt: 1 })
      const events = yield* Effect.fork(Stream.runCollect(monitor.events))
      yield* Effect.repeatN(Effect.yieldNow(), 20)
      yield* monitor.publish({ _tag: "Cancelled" })
      yield* monitor.publish({ _tag: "Paused" })
      const seen = Chunk.toReadonlyArray(yield* Fiber.join(events))
      assert.deepStrictEqual(seen.map((event) => event._tag), ["PartStarted", "Cancelled"])
    }))

  it.effect("a new session is not judged by the one before, nor by what storage had already", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(1000)
      const judgedAfter = (seconds: number, lengths: ReadonlyArray<number>) =>
        Effect.gen(function*() {
          yield* monitor.beginSession(2, lengths)
          const { feasibility: before } = yield* monitor.progress.get
          const attempt = monitor.beginAttempt(500)
          for (let second = 0; second < seconds; second++) {
            yield* TestClock.adjust("1 seconds")
            attempt.sent(1)
          }
          const after = yield* monitor.assess({ secondsLeft: 100, sessionSeconds: 100 })
          return [before._tag, after._tag]
        })
      assert.deepStrictEqual(yield* judgedAfter(12, [500]), ["Unknown", "Unknown"])
      assert.deepStrictEqual(yield* judgedAfter(30, []), ["Unknown", "Impossible"])
      yield* monitor.beginSession(2, [])
      assert.strictEqual((yield* monitor.progress.get).feasibility._tag, "Unknown")
    }))

  it.effect("reports each change of its feasibility once", () =>
    Effect.gen(function*() {
      const monitor = yield* UploadMonitor.make(1000)
      yield* monitor.beginSession(1, [])
      const attempt = monitor.beginAttempt(1000)
      for (let second = 0; second < 60; second++) {
        yield* TestClock.adjust("1 seconds")
        attempt.sent(1)
        yield* monitor.assess({ secondsLeft: second < 40 ? 10_000 : 100, sessionSeconds: second < 40 ? 10_000 : 100 })
      }
      yield* monitor.publish({ _tag: "Cancelled" })
      const seen = Chunk.toReadonlyArray(yield* Stream.runCollect(monitor.events))
      assert.deepStrictEqual(
        seen.map((event) => event._tag === "FeasibilityChanged" ? event.feasibility._tag : event._tag),
        ["Feasible", "Impossible", "Cancelled"]
      )
    }))
})
