import { assert, describe, it } from "@effect/vitest"
import { type UploadEvent, UploadLedger, Uploads } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Stream } from "effect"
import { fromObject } from "../../src/ObjectSource.js"

const partSize = 5 * 1024 * 1024

const bytes = new Uint8Array(4 * partSize).map((_, index) => index % 251)

/** An object in another storage, with what was read of it, and a way to replace it. */
const makeObject = () => {
  const read: Array<number> = []
  let current = "one"
  const source = fromObject({
    key: "interviews/ada.wav",
    mediaType: "audio/wav",
    size: bytes.byteLength,
    version: "one",
    current: Effect.sync(() => current),
    read: ({ length, offset }) => {
      read.push(offset / partSize)
      const half = offset + length / 2
      return Stream.make(bytes.subarray(offset, half), bytes.subarray(half, offset + length))
    }
  })
  const replace = () => {
    current = "two"
  }
  return { source, read, replace }
}

const isStored = (part: number) => (event: UploadEvent.UploadEvent) =>
  event._tag === "PartStored" && event.part === part

const options = { strategy: "multipart", parts: 4, concurrency: 1 } as const

const sandbox = (faults: FaultScript.FaultScript) =>
  Layer.provideMerge(UploadLedger.layerMemory, SandboxLayer.memory({ faults }))

describe("an object of another storage as a source", () => {
  it.effect("goes up range by range, and after a crash from where it was", () =>
    Effect.gen(function*() {
      const { read, source } = makeObject()
      yield* Effect.scoped(Effect.flatMap(Uploads.start(source, options), ({ events }) =>
        Stream.runDrain(Stream.takeUntil(events, isStored(2)))))
      assert.notInclude(read, 3)
      const file = yield* Uploads.upload(source, options)
      assert.include(read, 3)
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes)
      assert.strictEqual(file.sent.sessions, 1)
      const { requests } = yield* Sandbox.report
      assert.lengthOf(
        requests.filter(({ operation }) =>
          operation === "initiateLarge"
        ),
        1
      )
    }).pipe(Effect.provide(sandbox(FaultScript.on("putPart").part(3).stall("connect")))))

  it.effect("that is another by now is not completed", () =>
    Effect.gen(function*() {
      const { replace, source } = makeObject()
      const upload = yield* Uploads.start(source, options)
      yield* Stream.runForEach(upload.events, (event) => isStored(2)(event) ? Effect.sync(replace) : Effect.void)
      const error = yield* Effect.flip(upload.await)
      assert.strictEqual(error._tag, "SourceChanged")
      assert.deepStrictEqual(yield* Sandbox.files, [])
    }).pipe(Effect.scoped, Effect.provide(sandbox(FaultScript.empty))))
})
