import { assert, describe, it } from "@effect/vitest"
import { FileRecord, Files } from "@stevedore/core"
import { Effect, Fiber, Schedule, Schema, TestClock } from "effect"
import { fakeService, json } from "./fixtures/fakeService.js"

const record = (status: string) => ({ id: "f1", name: "a.txt", status, created_at: "2030-01-01T00:00:00Z", extra: 1 })

const answering = (statuses: ReadonlyArray<string>) =>
  fakeService((_, index) => json({ data: record(statuses[Math.min(index, statuses.length - 1)] ?? "pending") }))

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
