import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy, Uploads, UploadSources } from "@stevedore/core"
import { Cause, Clock, Deferred, Duration, Effect, Exit, FastCheck, Fiber, Option, TestClock } from "effect"
import { FaultScript, Sandbox, SandboxLayer, VirtualTime } from "../src/index.js"
import { runs } from "./support/runs.js"

describe("VirtualTime", () => {
  it.effect.prop(
    "runs concurrent sleeps of up to a day, and each ends at its own virtual time",
    { sleeps: FastCheck.array(FastCheck.integer({ min: 0, max: 86_400_000 }), { maxLength: 20 }) },
    ({ sleeps }) =>
      Effect.gen(function*() {
        const woke: Array<readonly [number, number]> = []
        const program = Effect.forEach(sleeps, (millis) =>
          Effect.zipRight(
            Effect.sleep(millis),
            Effect.map(Clock.currentTimeMillis, (now) => void woke.push([millis, now]))
          ), { concurrency: "unbounded", discard: true })
        yield* VirtualTime.run(program, { start: 1000 })
        assert.deepStrictEqual(
          woke.map(([, now]) => now),
          sleeps.map((millis) => millis + 1000).sort((one, other) => one - other)
        )
        assert.isTrue(woke.every(([millis, now]) => now === millis + 1000))
      }),
    { fastCheck: { numRuns: runs(25) } }
  )

  it.effect("fails with the program's failure, and interrupts the program when interrupted", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* Effect.exit(VirtualTime.run(Effect.delay(Effect.fail("late"), "1 hour"))),
        Exit.fail("late")
      )
      let ended = false
      const endless = Effect.onInterrupt(Effect.forever(Effect.sleep("1 second")), () =>
        Effect.sync(() => {
          ended = true
        }))
      const fiber = yield* Effect.fork(VirtualTime.run(endless))
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
      yield* Fiber.interrupt(fiber)
      assert.isTrue(ended)
    }))

  it.effect("does not move on to the end of a sleep that was interrupted, while the program waits for the platform", () =>
    Effect.gen(function*() {
      const program = Effect.timeoutOption(Effect.sleep("1 hour"), "1 second").pipe(
        Effect.zipRight(Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))),
        Effect.zipRight(Clock.currentTimeMillis)
      )
      assert.strictEqual(yield* VirtualTime.run(program, { start: 0 }), 1000)
    }))

  it.effect("does not move on while a fiber still has something to do, however many turns that takes", () =>
    Effect.gen(function*() {
      const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      const program = Effect.timeoutOption(Effect.as(Effect.repeatN(turn, 50), "done"), "1 second")
      assert.deepStrictEqual(yield* VirtualTime.run(program), Option.some("done"))
    }))

  it.effect("moves on beside a fiber that never rests", () =>
    Effect.gen(function*() {
      const asking = Effect.repeat(Effect.zipRight(Effect.yieldNow(), Clock.currentTimeMillis), {
        until: (now) => now >= 1000
      })
      const program = Effect.zipRight(
        Effect.race(asking, Effect.as(Effect.sleep("1 second"), 1000)),
        Clock.currentTimeMillis
      )
      assert.strictEqual(yield* VirtualTime.run(program, { start: 0 }), 1000)
    }))

  it.live("lets time pass also for what the program does when it is interrupted", () =>
    Effect.gen(function*() {
      let ended = 0
      const begun = yield* Deferred.make<void>()
      const program = Effect.onInterrupt(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never), () =>
        Effect.zipRight(Effect.sleep("1 hour"), Effect.map(Clock.currentTimeMillis, (now) => void (ended = now))))
      const fiber = yield* Effect.fork(VirtualTime.run(program, { start: 0 }))
      yield* Deferred.await(begun)
      yield* Effect.timeoutFail(Effect.disconnect(Fiber.interrupt(fiber)), {
        duration: "2 seconds",
        onTimeout: () =>
          "hangs"
      })
      assert.strictEqual(ended, 3_600_000)
    }))

  it.live("lets time pass also for what the program does when nothing in it moves any more", () =>
    Effect.gen(function*() {
      let ended = 0
      const program = Effect.onInterrupt(
        Effect.never,
        () => Effect.zipRight(Effect.sleep("1 hour"), Effect.map(Clock.currentTimeMillis, (now) => void (ended = now)))
      )
      const exit = yield* Effect.exit(VirtualTime.run(program, { start: 0 }))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.strictEqual(ended, 3_600_000)
    }))

  it.effect("goes on from the last run on the same sandbox, with what that left asleep, such as a paused gate", () =>
    Effect.gen(function*() {
      const notes = UploadSources.fromBytes("notes.txt", new Uint8Array([1]))
      const timed = <A, E, R>(program: Effect.Effect<A, E, R>) =>
        VirtualTime.run(
          Effect.zipLeft(Effect.exit(program), Effect.sleep("1 second")).pipe(
            Effect.zip(Clock.currentTimeMillis)
          )
        )
      const [refused, firstEnd] = yield* timed(Effect.provide(Uploads.upload(notes), RetryPolicy.none))
      assert.isTrue(Exit.isFailure(refused))
      const [uploaded, secondEnd] = yield* timed(Uploads.upload(notes))
      assert.isTrue(Exit.isSuccess(uploaded))
      assert.isAtLeast(secondEnd - firstEnd, 30_000)
      yield* Sandbox.expectNoBreach
      yield* TestClock.adjust("3 hours")
      const [, late] = yield* timed(Effect.void)
      assert.strictEqual(late, (yield* Clock.currentTimeMillis) + 1000)
      const [, fresh] = yield* VirtualTime.run(Effect.zip(Effect.void, Clock.currentTimeMillis), { start: 7 })
      assert.strictEqual(fresh, 7)
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("put").answer(503, "SlowDown", { retryAfter: 40 })
    }))))

  it.effect.each([["a wait", Effect.never], ["a sleep", Effect.sleep(Duration.infinity)]] as const)(
    "reports a program that hangs in %s without an end",
    ([, endless]) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(VirtualTime.run(endless))
        assert.match(String(exit), /Nothing is scheduled and nothing moves/)
      })
  )
})
