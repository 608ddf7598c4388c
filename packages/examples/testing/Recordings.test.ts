import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import { Recordings } from "./Recordings.js"

const interview = UploadSources.fromBytes(
  "interview.txt",
  new TextEncoder().encode("hello"),
  {
    mediaType: "text/plain"
  }
)

// the unchanged application, over a service that fails as the script says
const failing = (faults: FaultScript.FaultScript = FaultScript.empty) =>
  Recordings.Default.pipe(
    Layer.provideMerge(SandboxLayer.memory({ faults, projects: 25 })),
    Layer.provide(KeyValueStore.layerMemory)
  )

describe("saving a recording", () => {
  it.effect("survives a PUT refused twice and an answer that is lost", () =>
    Effect.gen(function*() {
      const recordings = yield* Recordings
      const saved = yield* recordings.save("project-1", interview)
      assert.deepStrictEqual(yield* recordings.of("project-1"), [saved])
      yield* Sandbox.expectStored(interview)
      yield* Sandbox.expectNoBreach
    }).pipe(Effect.provide(failing(
      FaultScript.on("put").times(2).answer(503, "SlowDown").and(
        FaultScript.on("complete").loseAnswer()
      )
    ))))

  it.effect("leaves no row of a file that is not there", () =>
    Effect.gen(function*() {
      const recordings = yield* Recordings
      const error = yield* Effect.flip(recordings.save("project-1", interview))
      assert.strictEqual(error._tag, "UrlExpired")
      assert.deepStrictEqual(yield* recordings.of("project-1"), [])
    }).pipe(Effect.provide(failing(FaultScript.on("put").always().expire()))))
})
