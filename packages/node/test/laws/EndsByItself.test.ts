import { assert, describe, it, vi } from "@effect/vitest"
import { TransferGate } from "@stevedore/core"
import { Deferred, Duration, Effect, Fiber } from "effect"

/** How many timers of a minute or more are left, of those that were set since: a process waits for them before it ends. */
const longTimers = Effect.acquireRelease(
  Effect.sync(() => ({ set: vi.spyOn(globalThis, "setTimeout"), cleared: vi.spyOn(globalThis, "clearTimeout") })),
  ({ cleared, set }) =>
    Effect.sync(() => {
      set.mockRestore()
      cleared.mockRestore()
    })
).pipe(
  Effect.map(({ cleared, set }) =>
    Effect.sync(() =>
      set.mock.results.filter(({ value }, index) =>
        Number(set.mock.calls[index]?.[1]) >= 60_000 && !cleared.mock.calls.some(([timer]) => timer === value)
      ).length
    )
  )
)

describe("a process ends by itself", () => {
  it.scopedLive("when its gate is closed, though that was paused for an hour, with transfers that wait", () =>
    Effect.gen(function*() {
      const left = yield* longTimers
      yield* Effect.scoped(Effect.gen(function*() {
        const gate = yield* TransferGate.make()
        yield* gate.pause(Duration.hours(1))
        yield* Effect.forkScoped(gate.pass(Effect.never))
        yield* Effect.sleep("20 millis")
        assert.isAbove(yield* left, 0)
      }))
      assert.strictEqual(yield* left, 0)
    }))

  it.scopedLive("while transfers wait for others that never end", () =>
    Effect.gen(function*() {
      const left = yield* longTimers
      const gate = yield* TransferGate.make({ limit: 1 })
      const first = yield* Effect.fork(gate.pass(Effect.flatMap(Deferred.make<void>(), Deferred.await)))
      const second = yield* Effect.fork(gate.pass(Effect.void))
      yield* Effect.sleep("20 millis")
      assert.strictEqual(yield* left, 0)
      yield* Fiber.interruptAll([second, first])
    }))
})
