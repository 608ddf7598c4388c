import { assert, describe, it } from "@effect/vitest"
import { ConnectionError, ObjectStorage, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { Effect, Stream } from "effect"
import { bytes, inTime, requestsOf, sourceOf, tiny } from "../fixtures/uploads.js"

// A URL that signs `If-None-Match: *` takes the file once: the second PUT is refused, whatever became of the first answer
const there = FaultScript.on("putSingle").always().answer(412, "PreconditionFailed")

const first = FaultScript.on("putSingle")

const small = Uploads.upload(sourceOf(95), { strategy: "single" })

describe("a single PUT that storage takes once", () => {
  it.effect.each([
    { what: "is lost", fault: first.loseAnswer() },
    { what: "does not come", fault: first.stall("answer") },
    { what: "is lost, and then that of a gateway is an error", fault: first.loseAnswer().and(first.answer(503)) }
  ])("is completed if the answer $what, and the second says that it is there", ({ fault }) =>
    Effect.gen(function*() {
      const running = yield* Uploads.start(sourceOf(95), { strategy: "single" })
      const file = yield* inTime(running.await)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
      assert.strictEqual(file.sent.sessions, 1)
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "initiate"), 1)
      assert.lengthOf(requestsOf(report, "complete"), 1)
      assert.deepStrictEqual(report.breaches, [])
      const events = yield* Stream.runCollect(running.events)
      assert.lengthOf([...events].filter(({ _tag }) => _tag === "PartStored"), 1)
    }).pipe(Effect.scoped, Effect.provide(tiny({ faults: fault.and(there) }))))

  it.effect("shows all of it as stored while Complete is under way", () =>
    Effect.gen(function*() {
      const running = yield* Uploads.start(sourceOf(95), { strategy: "single" })
      const completing = yield* inTime(
        Stream.runHead(Stream.filter(running.progress.changes, ({ phase }) => phase === "completing"))
      )
      assert.deepStrictEqual(
        completing.pipe((now) => now._tag === "Some" ? [now.value.sent, now.value.confirmed] : []),
        [95, 95]
      )
      yield* inTime(running.await)
    }).pipe(
      Effect.scoped,
      Effect.provide(tiny({
        faults: first.loseAnswer().and(there).and(FaultScript.on("complete").delay("20 seconds"))
      }))
    ))

  const over = (change: (put: ObjectStorage.Service["put"]) => ObjectStorage.Service["put"]) =>
    Effect.flatMap(
      ObjectStorage.ObjectStorage,
      (storage) => Effect.provideService(small, ObjectStorage.ObjectStorage, { ...storage, put: change(storage.put) })
    )

  it.effect.each([
    { what: "the first attempt meets another file", earlier: 0, change: (put: ObjectStorage.Service["put"]) => put },
    {
      what: "the earlier attempts had no connection",
      earlier: 0,
      change: (put: ObjectStorage.Service["put"]): ObjectStorage.Service["put"] => (request) =>
        request.attempt === 1
          ? Effect.fail(
            new ConnectionError.ConnectionFailed({ peer: "storage", origin: "https://s", arrived: "no", attempts: 1 })
          )
          : put(request)
    },
    {
      what: "what is there was damaged on its way",
      earlier: 1,
      change: (put: ObjectStorage.Service["put"]): ObjectStorage.Service["put"] => (request) =>
        Effect.map(put(request), (receipt) => ({ ...receipt, checksums: { crc32: "AAAAAA==" } }))
    }
  ])("is refused if $what", ({ change, earlier }) =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(over(change)))
      assert.strictEqual(error._tag, "StorageRejected")
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "put"), earlier + 1)
      assert.lengthOf(requestsOf(report, "complete"), 0)
    }).pipe(
      Effect.provide(
        tiny({ faults: FaultScript.on("putSingle").after(earlier).always().answer(412, "PreconditionFailed") })
      )
    ))

  it.effect("is sent in another session if the service cannot complete it without its etag", () =>
    Effect.gen(function*() {
      const file = yield* inTime(small)
      assert.strictEqual(file.sent.sessions, 2)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(95))
    }).pipe(Effect.provide(tiny({
      faults: first.loseAnswer()
        .and(first.answer(412, "PreconditionFailed"))
        .and(FaultScript.on("complete").answer(422))
    }))))

  it.effect("fails with what the service says if no session is left for that", () =>
    Effect.gen(function*() {
      const error = yield* inTime(Effect.flip(Uploads.upload(sourceOf(95), { strategy: "single", maxSessions: 1 })))
      assert.strictEqual(error._tag, "RequestRejected")
    }).pipe(Effect.provide(tiny({
      faults: first.loseAnswer().and(there).and(FaultScript.on("complete").answer(422))
    }))))
})
