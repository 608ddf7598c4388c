import { assert, describe, it } from "@effect/vitest"
import { FileRecord, Files } from "@stevedore/core"
import { Effect, Fiber, Schedule, Schema, TestClock } from "effect"
import { answering, record } from "./fixtures/files.js"

describe("Files.inspect", () => {
  it.effect("returns the record, with unknown fields", () =>
    Effect.gen(function*() {
      const service = answering(["completed"])
      const file = yield* Effect.provide(Files.inspect("f1"), service.layer)
      assert.deepStrictEqual<unknown>(yield* Schema.encode(FileRecord.FileRecord)(file), record("completed"))
      assert.deepStrictEqual(service.received.map(({ path }) => path), ["/v1/files/f1"])
    }))
})

describe("Files.awaitProcessed", () => {
  for (const end of ["completed", "failed"]) {
    it.effect(`polls until the status is ${end}, and no further`, () =>
      Effect.gen(function*() {
        const service = answering(["pending", "pending", "pending", end])
        const fiber = yield* Effect.fork(Effect.provide(Files.awaitProcessed("f1"), service.layer))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(fiber)).status, end)
        assert.strictEqual(service.received.length, 4)
      }))
  }

  it.effect("asks once for a file that is already processed", () =>
    Effect.gen(function*() {
      const service = answering(["completed"])
      yield* Effect.provide(Files.awaitProcessed("f1"), service.layer)
      assert.strictEqual(service.received.length, 1)
    }))

  it.effect("polls as the caller's schedule says, and returns the last record when the schedule ends first", () =>
    Effect.gen(function*() {
      const service = answering(["pending"])
      const schedule = Schedule.intersect(Schedule.spaced("30 seconds"), Schedule.recurs(2))
      const fiber = yield* Effect.fork(Effect.provide(Files.awaitProcessed("f1", schedule), service.layer))
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(service.received.length, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).status, "pending")
      assert.strictEqual(service.received.length, 3)
    }))
})
