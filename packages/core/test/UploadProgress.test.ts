import { assert, describe, it } from "@effect/vitest"
import { UploadProgress, Uploads, type UploadSource } from "@stevedore/core"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import type { Types } from "effect"
import { Arbitrary, Duration, Effect, Fiber, Option, Schema, Stream, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { inTime, sourceOf, tiny } from "./fixtures/uploads.js"

const Json = Schema.parseJson(UploadProgress.UploadProgress)

const again = (progress: UploadProgress.UploadProgress) => Schema.decodeSync(Json)(Schema.encodeSync(Json)(progress))

const looks = (source: UploadSource) =>
  Effect.scoped(Effect.flatMap(
    Uploads.start(source, { strategy: "multipart", maxSessions: 2 }),
    (upload) => Stream.runCollect(upload.progress.changes)
  )).pipe(inTime, Effect.map((chunk) => [...chunk]))

describe("UploadProgress", () => {
  it("is exactly what its Schema says", () => {
    const isSame: Types.Equals<typeof UploadProgress.UploadProgress.Type, UploadProgress.UploadProgress> = true
    assert.isTrue(isSame)
  })

  it.prop("survives JSON", {
    // NaN, which the size of a source can be, is equal to nothing
    progress: Arbitrary.make(UploadProgress.UploadProgress).filter(({ sent, size }) => !Number.isNaN(sent + size))
  }, ({ progress }) => {
    assert.isTrue(Schema.equivalence(UploadProgress.UploadProgress)(again(progress), progress))
  }, { fastCheck: { numRuns: runs(500) } })

  it.effect("is told each second, and for the last time at the end, as a line of text", () =>
    Effect.gen(function*() {
      const upload = yield* Uploads.start(sourceOf(5))
      const reading = yield* Effect.fork(Stream.runCollect(Uploads.progressEvery(upload, "1 second")))
      yield* TestClock.adjust("20 seconds")
      const lines = Array.from(yield* Fiber.join(reading), UploadProgress.describe)
      assert.lengthOf(lines, 12)
      assert.strictEqual(lines[0], "preparing: 0 B of 5 B (0 %)")
      assert.strictEqual(lines[10], "uploading: 0 B of 5 B (0 %), stalled")
      assert.strictEqual(lines[11], "completed: 5 B of 5 B (100 %)")
    }).pipe(
      Effect.scoped,
      Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").delay("10 seconds") }))
    ))

  it("has null in JSON for what is unknown, and times in milliseconds", () => {
    assert.deepStrictEqual(Schema.encodeSync(UploadProgress.UploadProgress)(UploadProgress.initial(5)), {
      phase: "preparing",
      size: 5,
      sent: 0,
      confirmed: 0,
      parts: { total: 0, confirmed: 0 },
      sessions: 0,
      speed: null,
      timeLeft: null,
      timeLeftBetween: null,
      stalledSince: null,
      feasibility: { _tag: "Unknown" }
    })
    assert.deepInclude(
      Schema.encodeSync(UploadProgress.UploadProgress)({
        ...UploadProgress.initial(5),
        speed: Option.some(1.5),
        timeLeft: Option.some(Duration.seconds(2)),
        timeLeftBetween: Option.some({ least: Duration.seconds(1), most: Duration.infinity }),
        stalledSince: Option.some(new Date(0))
      }),
      {
        speed: 1.5,
        timeLeft: 2000,
        timeLeftBetween: { least: 1000, most: "Infinity" },
        stalledSince: "1970-01-01T00:00:00.000Z"
      }
    )
  })

  it.effect.each<readonly [string, UploadSource, FaultScript.FaultScript]>([
    ["that ends well", sourceOf(95), FaultScript.empty],
    ["whose URLs end", sourceOf(95), FaultScript.on("putPart").part(7).expire()],
    ["that is refused for a while", sourceOf(95), FaultScript.on("putPart").times(5).answer(503)],
    ["of a size that is no number", { ...sourceOf(95), size: NaN }, FaultScript.empty],
    ["of half a byte", { ...sourceOf(95), size: 0.5 }, FaultScript.empty]
  ])("each look at an upload %s is one", ([, source, faults]) =>
    Effect.gen(function*() {
      const seen = yield* looks(source)
      assert.isAbove(seen.length, 0)
      for (const progress of seen) assert.deepStrictEqual(again(progress), progress)
    }).pipe(Effect.provide(tiny({ faults }))))
})
