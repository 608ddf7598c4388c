import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import { FaultScript, Sandbox } from "@stevedore/testing"
import { Chunk, Effect, Fiber, Stream, TestClock } from "effect"
import { slowLine } from "../fixtures/slowLine.js"
import { bytes, inTime, sourceOf, tiny } from "../fixtures/uploads.js"

const needs = 10_000_000 / 10_800

describe("Uploads", () => {
  describe("start", () => {
    it.effect("progress never goes back, never exceeds the size, and ends with the upload", () =>
      Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(200), { strategy: "multipart", concurrency: 2 })
        const seen = yield* Effect.fork(Stream.runCollect(handle.progress.changes))
        const file = yield* inTime(handle.await)
        const progress = Chunk.toReadonlyArray(yield* Fiber.join(seen))
        const confirmed = progress.map((now) => now.confirmed)
        assert.deepStrictEqual(confirmed, [...confirmed].sort((a, b) => a - b))
        assert.isTrue(progress.every((now) => now.sent <= 200 && now.confirmed <= now.sent))
        assert.strictEqual(progress[0]?.phase, "preparing")
        assert.isAbove(new Set(confirmed).size, 3)
        const last = progress.at(-1)
        assert.strictEqual(last?.phase, "completed")
        assert.strictEqual(last?.confirmed, 200)
        assert.deepStrictEqual(last?.parts, { total: 20, confirmed: 20 })
        assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(200))
      }).pipe(
        Effect.scoped,
        Effect.provide(tiny({ faults: FaultScript.on("putPart").always().delay("1 second") }))
      ))
  })

  describe("a connection that is too slow", () => {
    it.effect("is detected within half a minute of sending, and nothing is sent after that", () =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(Effect.flip(Uploads.upload(sourceOf(10_000_000), { strategy: "single" })))
        yield* TestClock.adjust("36 seconds")
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error._tag, "DeadlineUnreachable")
        if (error._tag !== "DeadlineUnreachable") return
        assert.strictEqual(error.has, 500)
        assert.closeTo(error.needs, needs, 5)
        assert.strictEqual(error.recovery, "none")
      }).pipe(Effect.provide(slowLine(() => 500)(tiny()))))

    it.effect("continues with onImpossible: continue, and succeeds if the connection becomes faster", () => {
      let speed = 500
      return Effect.gen(function*() {
        const handle = yield* Uploads.start(sourceOf(10_000_000), { strategy: "single", onImpossible: "continue" })
        yield* TestClock.adjust("60 seconds")
        assert.strictEqual((yield* handle.progress.get).feasibility._tag, "Impossible")
        speed = 200_000
        const file = yield* inTime(handle.await)
        assert.strictEqual((yield* Sandbox.stored(file.id)).byteLength, 10_000_000)
      }).pipe(Effect.scoped, Effect.provide(slowLine(() => speed)(tiny())))
    })

    for (const interruption of ["57 seconds", "100 seconds"] as const) {
      it.effect(`is not concluded from an interruption of ${interruption}`, () => {
        let speed = 2000
        return Effect.gen(function*() {
          const wishes = { strategy: "multipart", parts: 100, concurrency: 1 } as const
          const upload = yield* Uploads.start(sourceOf(10_000_000), wishes)
          yield* TestClock.adjust("2 minutes")
          speed = 0
          yield* TestClock.adjust(interruption)
          speed = 2000
          yield* TestClock.adjust("1 minute")
          assert.strictEqual((yield* upload.progress.get).phase, "uploading")
        }).pipe(Effect.scoped, Effect.provide(slowLine(() => speed)(tiny())))
      })
    }

    for (const [from, interruption] of [[9, 24], [9, 38], [0, 38]] as const) {
      it.effect(`is not concluded from an interruption of ${interruption} seconds that begins after ${from}`, () => {
        let speed = 2000
        return Effect.gen(function*() {
          const wishes = { strategy: "multipart", parts: 10, concurrency: 1 } as const
          const upload = yield* Uploads.start(sourceOf(10_000_000), wishes)
          yield* TestClock.adjust(`${from} seconds`)
          speed = 0
          yield* TestClock.adjust(`${interruption} seconds`)
          speed = 2000
          yield* TestClock.adjust("2 minutes")
          assert.strictEqual((yield* upload.progress.get).phase, "uploading")
        }).pipe(Effect.scoped, Effect.provide(slowLine(() => speed)(tiny())))
      })
    }

    it.effect("does not start a part that would end after its URL: a new session starts sooner", () =>
      Effect.gen(function*() {
        const source = sourceOf(1_000_000)
        const error = yield* inTime(Effect.flip(Uploads.upload(source, {
          strategy: "multipart",
          parts: 2,
          concurrency: 1,
          maxSessions: 1,
          onImpossible: "continue"
        })))
        assert.deepInclude(error, { _tag: "UrlExpired", reason: "TooLate", attempts: 0 })
        const puts = (yield* Sandbox.report).requests.filter((request) => request.operation === "putPart")
        assert.lengthOf(puts, 1)
      }).pipe(Effect.provide(slowLine(() => 1000)(tiny({ urlLifetime: "10 minutes" })))))
  })
})
