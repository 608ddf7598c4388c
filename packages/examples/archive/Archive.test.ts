import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import { Archive, Recording } from "./Archive.js"

const archived = (faults?: FaultScript.FaultScript) =>
  Archive.Default.pipe(
    Layer.provideMerge(SandboxLayer.memory({ faults })),
    Layer.provide(KeyValueStore.layerMemory)
  )

const talk = UploadSources.fromBytes("talk.mp3", new Uint8Array(1000))

const recording = (id: string) =>
  new Recording({ id, title: "talk.mp3", bytes: 1000, complete: false })

describe("the archive", () => {
  it.effect("has what was uploaded, and nothing that was only begun", () =>
    Effect.gen(function*() {
      const archive = yield* Archive
      const { id } = yield* Uploads.upload(talk)
      yield* archive.opened("Ada", recording(id))
      yield* archive.opened("Ada", recording("never-uploaded"))
      const ids = (yield* archive.of("Ada")).map((recording) => recording.id)
      assert.deepStrictEqual(ids, [id])
    }).pipe(Effect.provide(archived())))

  it.effect("shows nobody the recordings of somebody else", () =>
    Effect.gen(function*() {
      const archive = yield* Archive
      const { id } = yield* Uploads.upload(talk)
      yield* archive.opened("Ada", recording(id))
      assert.deepStrictEqual(yield* archive.of("Eve"), [])
      assert.isFalse(yield* archive.owns("Eve", id))
      assert.isTrue(yield* archive.owns("Ada", id))
    }).pipe(Effect.provide(archived())))

  it.effect("finds a recording although the service fails for a while", () =>
    Effect.gen(function*() {
      const archive = yield* Archive
      const { id } = yield* Uploads.upload(talk)
      yield* archive.opened("Ada", recording(id))
      assert.lengthOf(yield* archive.of("Ada"), 1)
    }).pipe(Effect.provide(
      archived(FaultScript.on("file").times(2).answer(503, "Unavailable"))
    )))
})
