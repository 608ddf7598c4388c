import { assert, describe, it } from "@effect/vitest"
import { TransferGate } from "@stevedore/core"
import { Duration, Effect, Fiber, Schedule, TestClock } from "effect"
import { slowDown, timedOut, widthAfter } from "../fixtures/transferGate.js"

describe("TransferGate", () => {
  it.effect("layerNoop holds nothing back, apart from what it is given", () => {
    const pauses: Array<number> = []
    const gate = TransferGate.layerNoop({
      pause: (duration) => Effect.sync(() => void pauses.push(Duration.toMillis(duration)))
    })
    return Effect.gen(function*() {
      const { hold, pass, pause, state } = yield* TransferGate.TransferGate
      yield* pause(Duration.minutes(1))
      yield* Effect.scoped(hold(1e12))
      const passed = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => pass(Effect.as(Effect.sleep("1 second"), "through"), { buffered: 1e12 }),
        { concurrency: "unbounded" }
      ).pipe(Effect.fork)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* Fiber.join(passed), 100)
      assert.deepStrictEqual(pauses, [60_000])
      assert.isAbove((yield* state).width, 1e9)
    }).pipe(Effect.provide(gate))
  })

  describe("width", () => {
    it.scoped("is never less than one transfer", () =>
      Effect.map(
        widthAfter({}, Array.from({ length: 100 }, (_, index) => index % 2 === 0 ? timedOut : slowDown)),
        (left) => assert.strictEqual(left, 1)
      ))

    it.scoped("is back at its initial value some minutes after it was narrowed, even if too little comes to fill the connection", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make()
        const refused = Effect.forEach(Array.from({ length: 10 }), () => Effect.ignore(gate.pass(slowDown)))
        const few = Effect.forEach(Array.from({ length: 8 }), () => gate.pass(Effect.sleep("50 millis")), {
          concurrency: "unbounded",
          discard: true
        })
        const day = Effect.zipRight(refused, Effect.repeat(few, Schedule.spaced("1 minute")))
        yield* Effect.forkScoped(day)
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual((yield* gate.state).width, 1)
        yield* TestClock.adjust("8 minutes")
        assert.strictEqual((yield* gate.state).width, 6)
      }))

    it.scoped("grows to its limit if every transfer has a connection of its own", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make()
        const fiber = yield* Effect.fork(Effect.forEach(
          Array.from({ length: 400 }),
          () => gate.pass(Effect.sleep("1 second"), { bytes: 1_000_000 }),
          { concurrency: "unbounded", discard: true }
        ))
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* gate.state).width, 32)
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(fiber)
      }))
  })
})
