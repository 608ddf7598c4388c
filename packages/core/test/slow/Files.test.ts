import { assert, describe, it } from "@effect/vitest"
import { Files } from "@stevedore/core"
import { Effect, Fiber, TestClock } from "effect"
import { answering } from "../fixtures/files.js"

describe("Files.awaitProcessed", () => {
  it.effect("never waits longer than 18 seconds between two polls", () =>
    Effect.gen(function*() {
      const service = answering(["pending"])
      const fiber = yield* Effect.fork(Effect.provide(Files.awaitProcessed("f1"), service.layer))
      yield* TestClock.adjust("10 minutes")
      const before = service.received.length
      for (let turn = 1; turn <= 5; turn++) {
        yield* TestClock.adjust("18 seconds")
        assert.isAtLeast(service.received.length, before + turn)
      }
      yield* Fiber.interrupt(fiber)
    }))
})
