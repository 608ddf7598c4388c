import { assert, describe, it } from "@effect/vitest"
import { ConnectionError, StorageError, TransferGate } from "@stevedore/core"
import { Cause, Duration, Effect, Exit, FastCheck as fc, Fiber, Option, Scope, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { gaugeOf } from "./fixtures/metricStates.js"
import { slowDown, timedOut, widthAfter } from "./fixtures/transferGate.js"
import { inVirtualTime } from "./fixtures/virtualTime.js"

const clockMillis = Effect.clockWith((clock) => clock.currentTimeMillis)

describe("TransferGate", () => {
  it.scoped.prop("never lets more through than its limit, and eventually lets everything through", {
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
    }), { fastCheck: { numRuns: runs(12) } })

  it.scoped("lets transfers through in order of arrival", () =>
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

  it.scoped("a pause holds back every transfer that has not started, and none that has", () =>
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

  it.scoped.prop("several pauses end when the longest one does, in any order", {
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
    }), { fastCheck: { numRuns: runs(12) } })

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

  it.scoped("an interruption during a pause takes effect at once, and gives the place back", () =>
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

  it.effect("a pause ends with the gate, for waiting transfers and for later ones", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const gate = yield* Scope.extend(TransferGate.make({ limit: 1 }), scope)
      yield* gate.pause(Duration.hours(1))
      const waiting = yield* Effect.fork(
        Effect.all([gate.pass(Effect.sleep("1 second")), gate.pass(clockMillis)], { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      yield* gate.pause(Duration.hours(1))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        yield* Effect.map(waiting.poll, Option.map(Exit.map(([, at]) => at))),
        Option.some(Exit.succeed(2000))
      )
    }))

  it.effect("the end of a gate does not wait for the end of a pause, not even of one from an uninterruptible region", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const gate = yield* Scope.extend(TransferGate.make(), scope)
      yield* Effect.uninterruptible(gate.pause(Duration.hours(1)))
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 second")
      assert.isTrue(Option.isSome(yield* closing.poll))
    }))

  it.scoped.each([
    { limit: Number.NaN },
    { initial: Number.NaN },
    { maxBufferedBytes: Number.NaN }
  ])(
    "treats a value that is not a number, such as one from an unset variable, as omitted: %j",
    (options) =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make(options)
        yield* Effect.scoped(Effect.zipRight(gate.hold(10), gate.pass(Effect.void, { bytes: 10 })))
        assert.strictEqual((yield* gate.state).width, 6)
      })
  )

  it.scoped.each([0, -1, 0.5])("is never narrower than one transfer: a limit of %d", (limit) =>
    Effect.gen(function*() {
      const gate = yield* Effect.provide(TransferGate.TransferGate, TransferGate.layer({ limit }))
      assert.strictEqual(yield* gate.pass(Effect.succeed("through")), "through")
    }))

  it.scoped.each(
    [
      [{}, 6],
      [{ limit: 2 }, 2],
      [{ initial: 9 }, 9],
      [{ initial: 99 }, 32],
      [{ adaptive: false }, 32],
      [{ adaptive: false, limit: 7 }, 7]
    ] as const
  )(
    "begins as wide as it is told, 6 unless it is told, 32 at the most: %o",
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

  it.scoped("owners are served in turn: one part does not wait behind the 600 of another upload", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ limit: 1 })
      const order: Array<string> = []
      const transfer = (owner: string) =>
        gate.pass(Effect.zipLeft(Effect.sync(() => order.push(owner)), Effect.sleep("1 second")), { owner })
      const many = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 600 }), () => transfer("many"), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("500 millis")
      const few = yield* Effect.fork(Effect.all([transfer("few"), transfer("few")], { concurrency: "unbounded" }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(few)
      assert.deepStrictEqual(order.slice(0, 5), ["many", "many", "few", "many", "few"])
      yield* Fiber.interrupt(many)
    }))

  it.scoped("a SlowDown holds back everybody for as long as it asks, even if nobody retries its transfer", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make()
      const slowDown = new StorageError.StorageUnavailable({
        status: 503,
        code: "SlowDown",
        retryAfter: Duration.seconds(40)
      })
      yield* Effect.ignore(gate.pass(Effect.fail(slowDown)))
      const next = yield* Effect.fork(gate.pass(clockMillis))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(next), 40_000)
    }))

  describe("memory", () => {
    it.scoped("transfers wait until their bytes fit, and those without bytes do not wait for them", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make({ maxBufferedBytes: 100 })
        const begun: Array<string> = []
        const transfer = (name: string, buffered?: number) =>
          gate.pass(Effect.zipLeft(Effect.sync(() => begun.push(name)), Effect.sleep("1 second")), {
            buffered,
            owner: name
          })
        const fiber = yield* Effect.fork(Effect.all([
          transfer("60", 60),
          transfer("50", 50),
          transfer("10", 10),
          transfer("0")
        ], { concurrency: "unbounded" }))
        yield* TestClock.adjust("500 millis")
        assert.deepStrictEqual(begun, ["60", "0"])
        const { bufferedBytes, inFlight, waiting } = yield* gate.state
        assert.deepStrictEqual({ bufferedBytes, inFlight, waiting }, { bufferedBytes: 60, inFlight: 2, waiting: 2 })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(begun, ["60", "0", "50", "10"])
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(fiber)
      }))

    it.scoped.each([1000, Infinity])(
      "a transfer that needs more than all of it (%d) runs alone",
      (buffered) =>
        Effect.gen(function*() {
          const gate = yield* TransferGate.make({ maxBufferedBytes: 100 })
          const large = yield* Effect.fork(gate.pass(Effect.sleep("1 second"), { buffered }))
          const small = yield* Effect.fork(gate.pass(clockMillis, { buffered: 1 }))
          yield* TestClock.adjust("1 minute")
          yield* Fiber.join(large)
          assert.strictEqual((yield* gate.state).waiting, 0)
          assert.strictEqual(yield* Fiber.join(small), 1000)
        })
    )

    it.scoped.each([[0.1, 0.2], [Infinity], [Number.NaN], [-1, 1]])(
      "is whole again once nobody holds any: %s",
      (amounts) =>
        Effect.gen(function*() {
          const gate = yield* TransferGate.make({ maxBufferedBytes: 100 })
          yield* Effect.scoped(Effect.forEach(amounts, (bytes) => gate.hold(bytes)))
          assert.strictEqual((yield* gate.state).bufferedBytes, 0)
        })
    )

    it.scoped("is held as long as the scope, across attempts and pauses, without a place in flight", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make({ limit: 1, maxBufferedBytes: 100 })
        yield* gate.pause(Duration.hours(1))
        const held = yield* Effect.fork(Effect.scoped(Effect.zipRight(gate.hold(80), Effect.sleep("5 seconds"))))
        const next = yield* Effect.fork(Effect.scoped(Effect.zipRight(gate.hold(80), clockMillis)))
        const interrupted = yield* Effect.fork(Effect.scoped(gate.hold(1)))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* gate.state).bufferedBytes, 80)
        yield* Fiber.interrupt(interrupted)
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(held)
        assert.strictEqual(yield* Fiber.join(next), 5000)
        assert.strictEqual((yield* gate.state).bufferedBytes, 0)
      }))
  })

  it.scoped("a transfer that holds memory gets its place even if its owner waits for more memory before it", () =>
    Effect.gen(function*() {
      const gate = yield* TransferGate.make({ maxBufferedBytes: 100 })
      const part = Effect.scoped(
        Effect.zipRight(
          gate.hold(80, "upload"),
          Effect.zipRight(
            Effect.sleep("1 second"),
            gate.pass(clockMillis, {
              owner: "upload"
            })
          )
        )
      )
      const parts = yield* Effect.fork(Effect.all([part, part, part], { concurrency: "unbounded" }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(parts), [1000, 2000, 3000])
    }))

  describe("width", () => {
    it.scoped.each([[1, 15], [2, 14], [5, 11], [8, 8], [16, 8]] as const)(
      "%d timeouts of the same 16 transfers leave room for %d",
      ([timeOuts, width]) =>
        Effect.map(
          widthAfter({ initial: 16 }, Array.from({ length: timeOuts }, () => timedOut)),
          (left) => assert.strictEqual(left, width)
        )
    )

    it.scoped.each([1, 3, 16])(
      "is halved by a SlowDown, once for all that were in flight: %d of 16",
      (refused) =>
        Effect.map(
          widthAfter({ initial: 16 }, Array.from({ length: refused }, () => slowDown)),
          (left) => assert.strictEqual(left, 8)
        )
    )

    it.scoped("stays as narrow as needed while somebody always waits, however long ago it was narrowed", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make()
        let inFlight = 0
        let timeOuts = 0
        const oneAtATime = Effect.acquireUseRelease(
          Effect.sync(() => ++inFlight),
          (company) =>
            Effect.zipRight(
              Effect.sleep("40 seconds"),
              Effect.suspend(() => {
                if (company === 1) return Effect.void
                timeOuts += 1
                return timedOut
              })
            ),
          () => Effect.sync(() => inFlight--)
        )
        yield* Effect.forkScoped(Effect.forEach(
          Array.from({ length: 6 }),
          () => Effect.forever(Effect.ignore(gate.pass(oneAtATime))),
          { concurrency: "unbounded" }
        ))
        yield* TestClock.adjust("4 minutes")
        const before = timeOuts
        yield* TestClock.adjust("12 minutes")
        assert.deepStrictEqual([(yield* gate.state).width, timeOuts - before], [1, 0])
      }))

    it.scoped("does not change when transfers fail for reasons of their own, or when it is fixed", () =>
      Effect.gen(function*() {
        const own = Array.from({ length: 50 }, () => Effect.fail("no"))
        assert.strictEqual(yield* widthAfter({ initial: 16 }, own), 16)
        const fixed = { adaptive: false, limit: 6 }
        assert.strictEqual(yield* widthAfter(fixed, [timedOut, slowDown, timedOut, timedOut, slowDown]), 6)
      }))

    it.scoped("does not grow while there is too little to fill it, and does not shrink for that reason", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make()
        const parts = (count: number, millis: number) =>
          Effect.forEach(
            Array.from({ length: count }),
            () => gate.pass(Effect.sleep(Duration.millis(millis)), { bytes: 1_000_000 }),
            { concurrency: 2, discard: true }
          )
        const fiber = yield* Effect.fork(
          parts(50, 100).pipe(Effect.zipRight(Effect.sleep("1 hour")), Effect.zipRight(parts(50, 3000)))
        )
        yield* TestClock.adjust("2 hours")
        yield* Fiber.join(fiber)
        assert.strictEqual((yield* gate.state).width, 6)
      }))

    it.scoped("reports the confirmed throughput once a full connection has been measured, and nothing before", () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.make({ limit: 4 })
        const fiber = yield* Effect.fork(Effect.forEach(
          Array.from({ length: 100 }),
          () => gate.pass(Effect.sleep("1 second"), { bytes: 1_000_000 }),
          { concurrency: "unbounded", discard: true }
        ))
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual((yield* gate.state).throughput, Option.none())
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(fiber)
        assert.deepStrictEqual((yield* gate.state).throughput, Option.some(4_000_000))
      }))
  })

  it.effect.prop(
    "whatever fails, waits, pauses or is interrupted: never more than the width in flight, never more than the bound " +
      "in memory, and nothing of either is lost",
    {
      limit: fc.integer({ min: 1, max: 8 }),
      adaptive: fc.boolean(),
      steps: fc.array(
        fc.record({
          after: fc.integer({ min: 0, max: 300 }),
          millis: fc.integer({ min: 0, max: 2000 }),
          bytes: fc.constantFrom(0, 0, 10, 40, 100, 150),
          owner: fc.constantFrom("a", "b", undefined),
          isHeld: fc.boolean(),
          end: fc.constantFrom(
            "success" as const,
            "failure" as const,
            "timeOut" as const,
            "slowDown" as const,
            "death" as const
          ),
          interruptedAfter: fc.option(fc.integer({ min: 0, max: 3000 })),
          pause: fc.option(fc.integer({ min: 0, max: 1000 }), { freq: 8 })
        }),
        { minLength: 1, maxLength: 40 }
      )
    },
    ({ adaptive, limit, steps }) =>
      inVirtualTime(Effect.scoped(Effect.gen(function*() {
        const gate = yield* TransferGate.make({ limit, adaptive, maxBufferedBytes: 100 })
        const seen = { inFlight: 0, bytes: 0 }
        const ends: Record<typeof steps[number]["end"], Effect.Effect<void, unknown>> = {
          success: Effect.void,
          failure: Effect.fail("no"),
          timeOut: Effect.fail(
            new ConnectionError.TimedOut({ peer: "storage", phase: "body", after: Duration.zero })
          ),
          slowDown: Effect.fail(new StorageError.StorageUnavailable({ status: 503, code: "SlowDown" })),
          death: Effect.die("dead")
        }
        const check = Effect.gen(function*() {
          const { bufferedBytes, inFlight, width } = yield* gate.state
          assert.isAtMost(width, limit)
          assert.isAtMost(seen.inFlight, inFlight)
          assert.isAtMost(seen.inFlight, limit)
          assert.isAtMost(seen.bytes, bufferedBytes)
          if (bufferedBytes > 100) assert.include([150, 0], seen.bytes)
        })
        const counted = (places: number, bytes: number) =>
          Effect.acquireRelease(
            Effect.suspend(() => {
              seen.inFlight += places
              seen.bytes += bytes
              return check
            }),
            () =>
              Effect.sync(() => {
                seen.inFlight -= places
                seen.bytes -= bytes
              })
          )
        const fibers = yield* Effect.forEach(steps, (step) =>
          Effect.gen(function*() {
            yield* Effect.sleep(Duration.millis(step.after))
            if (step.pause !== null) yield* gate.pause(Duration.millis(step.pause))
            const work = Effect.flatMap(Effect.sleep(Duration.millis(step.millis)), () => ends[step.end])
            const { bytes, owner } = step
            const running = step.isHeld
              ? gate.hold(bytes, owner).pipe(
                Effect.zipRight(counted(0, bytes)),
                Effect.zipRight(gate.pass(Effect.scoped(Effect.zipRight(counted(1, 0), work)), { owner }))
              )
              : gate.pass(Effect.scoped(Effect.zipRight(counted(1, bytes), work)), { buffered: bytes, owner })
            const fiber = yield* Effect.fork(Effect.scoped(running))
            if (step.interruptedAfter !== null) {
              yield* Effect.fork(
                Effect.zipRight(Effect.sleep(Duration.millis(step.interruptedAfter)), Fiber.interruptFork(fiber))
              )
            }
            return fiber
          }))
        for (const fiber of fibers) {
          const exit = yield* Fiber.await(fiber)
          if (Exit.isFailure(exit)) assert.isFalse(Cause.pretty(exit.cause).includes("AssertionError"))
        }
        const left = yield* gate.state
        assert.deepInclude(left, { inFlight: 0, waiting: 0, bufferedBytes: 0 })
        // Every place is still there: as many as the width go through at once
        const places = yield* Effect.forEach(Array.from({ length: left.width }), () =>
          Effect.fork(gate.pass(Effect.never)))
        yield* Effect.sleep("1 minute")
        assert.strictEqual((yield* gate.state).inFlight, left.width)
        yield* Fiber.interruptAll(places)
        assert.strictEqual((yield* gate.state).inFlight, 0)
      }))).pipe(Effect.asVoid),
    { fastCheck: { numRuns: runs(150) }, timeout: 60_000 }
  )

  it.effect("reports what it does in gauges, which end with it, even before its transfers do", () =>
    Effect.gen(function*() {
      const gauges = Effect.all({
        inFlight: gaugeOf("stevedore_transfers_in_flight"),
        waiting: gaugeOf("stevedore_transfers_waiting"),
        width: gaugeOf("stevedore_transfers_width"),
        bufferedBytes: gaugeOf("stevedore_transfers_buffered_bytes")
      })
      const before = yield* gauges
      const fiber = yield* Effect.scoped(Effect.gen(function*() {
        const gate = yield* TransferGate.make({ limit: 2 })
        const fiber = yield* Effect.fork(Effect.forEach(
          [1, 2, 3],
          () => gate.pass(Effect.never, { buffered: 10 }),
          { concurrency: "unbounded" }
        ))
        yield* TestClock.adjust("1 second")
        const now = yield* gauges
        assert.deepStrictEqual({
          inFlight: now.inFlight - before.inFlight,
          waiting: now.waiting - before.waiting,
          width: now.width - before.width,
          bufferedBytes: now.bufferedBytes - before.bufferedBytes
        }, { inFlight: 2, waiting: 1, width: 2, bufferedBytes: 30 })
        return fiber
      }))
      assert.deepStrictEqual(yield* gauges, before)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* gauges, before)
    }))
})
