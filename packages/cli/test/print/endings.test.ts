import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Endings from "../../src/print/endings.js"

describe("interrupting", () => {
  it.effect.each(["SIGHUP", "SIGBREAK"] as const)(
    "%s interrupts the program and says so in its cause",
    (signal) =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        const before = process.listenerCount(signal)
        const program = Effect.zipRight(Deferred.succeed(started, undefined), Effect.never)
        const running = yield* Effect.fork(Endings.interrupting(program))
        yield* Deferred.await(started)
        process.emit(signal)
        const exit = yield* Fiber.await(running)
        assert(Exit.isFailure(exit))
        assert.isTrue(Endings.isHangUp(exit.cause))
        assert.strictEqual(process.listenerCount(signal), before)
      })
  )

  it.effect("leaves a second signal to the system, which ends the process, however long the program takes to end", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      const before = process.listenerCount("SIGHUP")
      const program = Effect.uninterruptible(Effect.zipRight(Deferred.succeed(started, undefined), Deferred.await(end)))
      const running = yield* Effect.fork(Endings.interrupting(program))
      yield* Deferred.await(started)
      assert.strictEqual(process.listenerCount("SIGHUP"), before + 1)
      process.emit("SIGHUP")
      assert.strictEqual(process.listenerCount("SIGHUP"), before)
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.await(running)
    }))

  it.effect("another interruption is not taken for a signal", () =>
    Effect.gen(function*() {
      const running = yield* Effect.fork(Endings.interrupting(Effect.never))
      yield* Effect.yieldNow()
      const exit = yield* Fiber.interrupt(running)
      assert(Exit.isFailure(exit))
      assert.isFalse(Endings.isHangUp(exit.cause))
    }))
})
