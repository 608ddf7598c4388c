import { assert, describe, it } from "@effect/vitest"
import { Downloads, RetryPolicy, Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Chunk, Effect, Stream } from "effect"

const bytes = new TextEncoder().encode("We met and agreed.")

const source = UploadSources.fromBytes("minutes.txt", bytes)

/** What a service of one's own has of them, once it is built: nothing of it needs the services any more. */
const services = Effect.all({
  uploads: Uploads.make,
  downloads: Downloads.make
})

const all = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

describe("a service of one's own", () => {
  it.effect("uploads in each way with what it was built with", () =>
    Effect.gen(function*() {
      const { downloads, uploads } = yield* services
      const file = yield* uploads.upload(source)
      const started = yield* Effect.scoped(Effect.flatMap(uploads.start(source), (handle) => handle.await))
      const [outcome] = yield* all(uploads.uploadAll(Stream.make(source), { files: 1 }))
      const missing = yield* Effect.flip(uploads.resume("none", source))
      assert.deepStrictEqual([outcome?._tag, missing._tag], ["Uploaded", "UnfinishedUploadNotFound"])
      for (const { id } of [file, started]) {
        assert.deepStrictEqual(yield* Sandbox.stored(id), bytes)
        assert.deepStrictEqual(Buffer.concat(yield* all(downloads.stream(id))), Buffer.from(bytes))
        const section = yield* Effect.flatMap(downloads.open(id), (open) => open.section({ range: { offset: 3 } }))
        assert.deepStrictEqual(Buffer.concat(yield* all(section.bytes)), Buffer.from(bytes.subarray(3)))
      }
    }).pipe(Effect.scoped, Effect.provide(SandboxLayer.memory())))

  it.effect("does what its caller's references say", () =>
    Effect.gen(function*() {
      const { uploads } = yield* services
      const error = yield* Effect.flip(Effect.provide(uploads.upload(source), RetryPolicy.none))
      assert.deepInclude(error, { _tag: "StorageUnavailable", attempts: 1 })
      assert.strictEqual((yield* uploads.upload(source)).size, bytes.length)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").times(2).answer(503) }))))
})
