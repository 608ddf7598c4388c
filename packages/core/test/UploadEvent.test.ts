import { assert, describe, it } from "@effect/vitest"
import { UploadError, UploadEvent, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox } from "@stevedore/testing"
import type { Types } from "effect"
import { Effect, Redacted, Schema, Stream } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { inTime, sourceOf, tiny } from "./fixtures/uploads.js"

const Json = Schema.parseJson(UploadEvent.UploadEvent)

const written = Schema.encodeSync(Json)

const read = Schema.decodeSync(Json)

const eventsOf = (source: Parameters<typeof Uploads.start>[0]) =>
  Effect.scoped(Effect.flatMap(
    Uploads.start(source, { strategy: "multipart", maxSessions: 2 }),
    (upload) => Stream.runCollect(upload.events)
  )).pipe(inTime, Effect.map((chunk) => [...chunk]))

const faults: Record<string, FaultScript.FaultScript> = {
  "ends well": FaultScript.empty,
  "is answered 503": FaultScript.on("putPart").times(5).answer(503),
  "loses its session": FaultScript.on("putPart").part(7).expire(),
  "loses all of its sessions": FaultScript.on("putPart").always().expire(),
  "is refused by storage": FaultScript.on("putPart").always().answer(403, "SignatureDoesNotMatch"),
  "loses the last answer": FaultScript.on("complete").always().loseAnswer().and(
    FaultScript.on("file").always().reset()
  )
}

describe("UploadEvent", () => {
  it("is exactly what its Schema says", () => {
    const isSame: Types.Equals<typeof UploadEvent.UploadEvent.Type, UploadEvent.UploadEvent> = true
    assert.isTrue(isSame)
  })

  it.prop("can name every failure", { error: UploadError.UploadError }, ({ error }) => {
    const ended: UploadEvent.UploadEvent = { _tag: "SessionEnded", session: 1, because: error._tag, lost: 0 }
    assert.deepStrictEqual(read(written(ended)), ended)
  }, { fastCheck: { numRuns: runs(300) } })

  it("refuses an unknown failure", () => {
    const text = JSON.stringify({ _tag: "SessionEnded", session: 1, because: "Boredom", lost: 0 })
    assert.throws(() => read(text))
  })

  it.effect.each(Object.keys(faults))(
    "each event of an upload that %s survives JSON, which shows no secret",
    (name) =>
      Effect.gen(function*() {
        const seen = yield* eventsOf(sourceOf(95))
        const { token } = yield* Sandbox.Sandbox
        assert.deepStrictEqual(seen.filter(UploadEvent.isLast), seen.slice(-1))
        assert.include(["Completed", "Failed"], seen.at(-1)?._tag)
        for (const event of seen) {
          const text = written(event)
          assert.notMatch(text, /X-Amz-|Signature=|Bearer/i)
          assert.notInclude(text, Redacted.value(token))
          const decoded = read(text)
          assert.strictEqual(decoded._tag, event._tag)
          assert.strictEqual(written(decoded), text)
          if (decoded._tag === "Failed" && event._tag === "Failed") {
            assert.strictEqual(decoded.error.message, event.error.message)
          }
        }
      }).pipe(Effect.provide(tiny({ faults: faults[name] ?? FaultScript.empty })))
  )

  it.effect("a refused source has one event, which says why", () =>
    Effect.gen(function*() {
      const seen = yield* eventsOf({ ...sourceOf(95), size: NaN })
      assert.deepStrictEqual(seen.map((event) => read(written(event))._tag), [
        "Failed"
      ])
    }).pipe(Effect.provide(tiny())))
})
