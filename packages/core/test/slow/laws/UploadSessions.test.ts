import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import { FaultScript } from "@stevedore/testing"
import { Effect, Fiber, Stream } from "effect"
import { inTime, sourceOf, tiny } from "../../fixtures/uploads.js"

// A gateway gives up, the service goes on, and is done a moment after the file was asked for

describe("UploadSessions", () => {
  it.effect("while a doubtful part is put again, the upload is uploading: it can be paused, may stall, and lacks a part", () =>
    Effect.gen(function*() {
      const handle = yield* Uploads.start(sourceOf(95), { strategy: "multipart" })
      const phases = yield* Effect.fork(
        Stream.runCollect(Stream.changesWith(handle.progress.changes, (one, next) => one.phase === next.phase))
      )
      yield* inTime(handle.await)
      const seen = [...yield* inTime(Fiber.join(phases))].slice(-5)
      assert.deepStrictEqual(
        seen.map(({ parts, phase }) => [phase, parts.total - parts.confirmed]),
        [["uploading", 9], ["completing", 0], ["uploading", 1], ["completing", 0], ["completed", 0]]
      )
    }).pipe(
      Effect.scoped,
      Effect.provide(tiny({
        backOff: true,
        faults: FaultScript.all([
          FaultScript.on("putPart").part(3).loseAnswer(),
          FaultScript.on("putPart").always().delay("10 seconds"),
          FaultScript.on("complete").times(5).answer(502),
          FaultScript.on("complete").always().delay("10 seconds")
        ])
      }))
    ))
})
