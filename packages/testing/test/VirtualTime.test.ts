import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, FastCheck, Fiber } from "effect"
import { VirtualTime } from "../src/index.js"

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
    { fastCheck: { numRuns: 25 } }
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

  it.live("lets time pass also for what the program does when it is interrupted", () =>
    Effect.gen(function*() {
      let ended = 0
      const program = Effect.onInterrupt(Effect.never, () =>
        Effect.zipRight(Effect.sleep("1 hour"), Effect.map(Clock.currentTimeMillis, (now) => void (ended = now))))
      const fiber = yield* Effect.fork(VirtualTime.run(program, { start: 0 }))
      yield* Effect.sleep("20 millis")
      yield* Effect.timeoutFail(Effect.disconnect(Fiber.interrupt(fiber)), {
        duration: "2 seconds",
        onTimeout: () =>
          "hangs"
      })
      assert.strictEqual(ended, 3_600_000)
    }))

  it.effect.each([["a wait", Effect.never], ["a sleep", Effect.sleep(Duration.infinity)]] as const)(
    "reports a program that hangs in %s without an end",
    ([, endless]) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(VirtualTime.run(endless))
        assert.match(String(exit), /Nothing is scheduled and nothing moves/)
      })
  )
})
