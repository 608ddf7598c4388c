import { assert, describe, it } from "@effect/vitest"
import { TransferGate } from "@stevedore/core"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { setImmediate } from "node:timers/promises"

/** The timers that a process would wait for before it ends, and not the one that just ended. */
const timers = Effect.promise(async () => {
  await setImmediate()
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
})

describe("a process ends by itself", () => {
  it.live("when its gate is closed, though that was paused for an hour, with transfers that wait", () =>
    Effect.gen(function*() {
      const before = yield* timers
      yield* Effect.scoped(Effect.gen(function*() {
        const gate = yield* TransferGate.make()
        yield* gate.pause(Duration.hours(1))
        yield* Effect.forkScoped(gate.pass(Effect.never))
        yield* Effect.sleep("20 millis")
        assert.isAbove(yield* timers, before)
      }))
      assert.isAtMost(yield* timers, before)
    }))

  it.live("while transfers wait for others that never end", () =>
    Effect.gen(function*() {
      const before = yield* timers
      const gate = yield* TransferGate.make({ limit: 1 })
      const first = yield* Effect.fork(gate.pass(Effect.flatMap(Deferred.make<void>(), Deferred.await)))
      const second = yield* Effect.fork(gate.pass(Effect.void))
      yield* Effect.sleep("20 millis")
      assert.isAtMost(yield* timers, before)
      yield* Fiber.interruptAll([second, first])
    }).pipe(Effect.scoped))
})
