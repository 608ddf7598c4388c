import { assert, describe, it } from "@effect/vitest"
import { TransferGate } from "@stevedore/core"
import { Duration, Effect, Exit, FastCheck as fc, Fiber, TestClock } from "effect"

const clockMillis = Effect.clockWith((clock) => clock.currentTimeMillis)

describe("TransferGate", () => {
  it.scoped.prop("never lets more through than its limit, and lets everything through in the end", {
    limit: fc.integer({ min: 1, max: 8 }),
    durations: fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 20 })
  }, ({ durations, limit }) =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ limit })
      let inFlight = 0
      let most = 0
      let done = 0
      const transfer = (millis: number) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            most = Math.max(most, ++inFlight)
          }),
          () => Effect.sleep(Duration.millis(millis)),
          () => Effect.sync(() => inFlight--)
        )
      const fiber = yield* Effect.fork(Effect.forEach(
        durations,
        (millis) => Effect.tap(gate.pass(transfer(millis)), () => Effect.sync(() => done++)),
        { concurrency: "unbounded", discard: true }
      ))
      yield* TestClock.adjust("1 day")
      yield* Fiber.join(fiber)
      assert.strictEqual(done, durations.length)
      assert.isAtMost(most, limit)
      assert.isAtLeast(most, 1)
    }), { fastCheck: { numRuns: 12 } })

  it.scoped("lets them through in the order in which they came", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ limit: 1 })
      const order: Array<number> = []
      const fiber = yield* Effect.fork(Effect.forEach(
        [1, 2, 3, 4],
        (number) => gate.pass(Effect.zipLeft(Effect.sync(() => order.push(number)), Effect.sleep("1 second"))),
        { concurrency: "unbounded" }
      ))
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(order, [1, 2, 3, 4])
    }))

  it.scoped("a pause holds every transfer that has not begun, and none that has", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make()
      const running = yield* Effect.fork(gate.pass(Effect.zipRight(Effect.sleep("1 second"), clockMillis)))
      yield* TestClock.adjust(0)
      yield* gate.pause(Duration.seconds(10))
      const held = yield* Effect.fork(
        Effect.all([gate.pass(clockMillis), gate.pass(clockMillis)], { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(running), 1000)
      assert.deepStrictEqual(yield* Fiber.join(held), [10_000, 10_000])
    }))

  it.scoped.prop("several pauses end when the longest of them does, whatever their order", {
    pauses: fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 5000 })), { minLength: 1 })
  }, ({ pauses }) =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make()
      yield* gate.pause(Duration.seconds(1))
      const waiting = yield* Effect.fork(gate.pass(clockMillis))
      yield* Effect.forkAll(
        pauses.map(([at, millis]) =>
          Effect.zipRight(Effect.sleep(Duration.millis(at)), gate.pause(Duration.millis(millis)))
        )
      )
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(
        yield* Fiber.join(waiting),
        Math.max(1000, ...pauses.map(([at, millis]) => at + millis))
      )
    }), { fastCheck: { numRuns: 12 } })

  it.scoped("a transfer that fails or is interrupted gives its place back", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ limit: 1 })
      yield* Effect.exit(gate.pass(Effect.fail("no")))
      const stuck = yield* Effect.fork(gate.pass(Effect.never))
      const queued = yield* Effect.fork(gate.pass(Effect.never))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(queued)
      yield* Fiber.interrupt(stuck)
      assert.deepStrictEqual(yield* Effect.exit(gate.pass(Effect.succeed("yes"))), Exit.succeed("yes"))
    }))

  it.scoped("an interruption during a pause is at once, and gives the place back", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ limit: 1 })
      yield* gate.pause(Duration.hours(1))
      const held = yield* Effect.fork(gate.pass(Effect.void))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(held)
      const next = yield* Effect.fork(gate.pass(clockMillis))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Fiber.join(next), 3_600_000)
    }))

  it.scoped.each([0, -1, 0.5])("is never narrower than one transfer: a limit of %d", (limit) =>
    Effect.gen(function*() {
      const gate = yield* Effect.provide(TransferGate.TransferGate, TransferGate.layer({ limit }))
      assert.strictEqual(yield* gate.pass(Effect.succeed("through")), "through")
    }))

  it.scoped.each(
    [
      [{}, 4],
      [{ limit: 2 }, 2],
      [{ initial: 9 }, 9],
      [{ initial: 99 }, 32],
      [{ adaptive: false }, 32],
      [{ adaptive: false, limit: 7 }, 7]
    ] as const
  )(
    "begins as wide as it is told, 4 unless it is told, 32 at the most: %o",
    ([options, width]) =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make(options)
        let begun = 0
        const fiber = yield* Effect.fork(Effect.forEach(
          Array.from({ length: 40 }),
          () => gate.pass(Effect.zipRight(Effect.sync(() => begun++), Effect.never)),
          { concurrency: "unbounded" }
        ))
        yield* TestClock.adjust("1 second")
        assert.strictEqual(begun, width)
        yield* Fiber.interrupt(fiber)
      })
  )

  it.effect("layerNoop holds nobody, however many come, but for what it is given", () => {
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
})
