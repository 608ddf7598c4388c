import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { Effect, Exit, FastCheck, Layer, Stream } from "effect"
import { Expectation, Sandbox, SandboxHttp, SandboxLayer } from "../src/index.js"
import * as Calls from "./Calls.js"
import { runs } from "./support/runs.js"

const MIB = 1024 * 1024

const stored = (bytes: Uint8Array): Expectation.Stored => ({
  fileId: "file",
  size: bytes.byteLength,
  read: ({ length, offset }) => Stream.succeed(bytes.subarray(offset, offset + length))
})

const source = (bytes: Uint8Array) => UploadSources.fromBytes("notes.txt", bytes)

describe("Expectation", () => {
  it.effect.prop(
    "reports the offset of the first byte that differs",
    { size: FastCheck.integer({ min: 1, max: 3 * MIB }), place: FastCheck.double({ min: 0, max: 1, noNaN: true }) },
    ({ place, size }) =>
      Effect.gen(function*() {
        const bytes = new Uint8Array(size).fill(7)
        const offset = Math.min(size - 1, Math.floor(place * size))
        yield* Expectation.isStoredAs(source(bytes), stored(bytes))
        const error = yield* Effect.flip(Expectation.isStoredAs(source(bytes), stored(bytes.with(offset, 8))))
        assert.strictEqual(error._tag, "StoredDiffers")
        if (error._tag === "StoredDiffers") {
          assert.strictEqual(error.offset, offset)
          assert.match(error.expected, /^07/)
          assert.match(error.stored, /^08/)
        }
      }),
    { fastCheck: { numRuns: runs(20) } }
  )

  it.effect.each([MIB, 5])(
    "reports missing or additional bytes from the end of the shorter content, after %s bytes",
    (size) =>
      Effect.gen(function*() {
        const bytes = new Uint8Array(size).fill(7)
        const longer = new Uint8Array(size + 2).fill(7)
        const fewer = yield* Effect.flip(Expectation.isStoredAs(source(longer), stored(bytes)))
        const more = yield* Effect.flip(Expectation.isStoredAs(source(bytes), stored(longer)))
        assert.strictEqual(
          fewer.message,
          `"notes.txt" differs from what is stored as file: ${size} bytes instead of ${
            size + 2
          }, and from byte ${size} on ` +
            "the end instead of 07 07."
        )
        assert.include(more.message, "07 07 instead of the end")
      })
  )

  it.effect("accepts a stream source or a native body with the stored bytes", () =>
    Effect.gen(function*() {
      const bytes = new Uint8Array(2 * MIB + 1).fill(7)
      const chunks = Stream.fromIterable([bytes.subarray(0, 100), bytes.subarray(100)])
      const streamed = UploadSources.fromStream("s", chunks, { size: bytes.byteLength })
      const native = {
        ...streamed,
        open: Effect.map(streamed.open, (opened) => ({
          ...opened,
          section: (range: { readonly offset: number; readonly length: number }) =>
            Effect.succeed({
              range,
              body: () =>
                Effect.succeed({
                  _tag: "NativeBody" as const,
                  content: new Blob([bytes.slice(range.offset, range.offset + range.length)])
                })
            })
        }))
      }
      for (const source of [streamed, native]) {
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(Expectation.isStoredAs(source, stored(bytes)))))
      }
    }))

  describe("of a sandbox", () => {
    it.effect("holds for every upload with the same name, and fails for a source that was not uploaded", () =>
      Effect.gen(function*() {
        const first = source(Calls.bytesOf("first"))
        const second = source(Calls.bytesOf("second"))
        const error = yield* Effect.flip(Sandbox.expectStored(first))
        assert.strictEqual(error.message, "No file \"notes.txt\" is finalized: the sandbox has none at all.")
        yield* Uploads.upload(first)
        yield* Uploads.upload(second)
        yield* Sandbox.expectStored(first)
        yield* Sandbox.expectStored(second)
        assert.strictEqual(
          (yield* Effect.flip(Sandbox.expectStored(source(Calls.bytesOf("third")))))._tag,
          "StoredDiffers"
        )
        const other = UploadSources.fromBytes("other.txt", Calls.bytesOf("first"))
        assert.include((yield* Effect.flip(Sandbox.expectStored(other))).message, "has \"notes.txt\", \"notes.txt\"")
        assert.deepStrictEqual((yield* Sandbox.files).map(({ size }) => size), [5, 6])
        yield* Sandbox.expectNoBreach
      }).pipe(Effect.provide(SandboxLayer.memory())))

    it.effect("fails with `NothingStored` for bytes whose upload is not completed", () =>
      Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* Calls.put(url, Calls.bytesOf("hello"))
        assert.strictEqual(
          (yield* Effect.flip(Sandbox.expectStored(source(Calls.bytesOf("hello")))))._tag,
          "NothingStored"
        )
      }).pipe(Effect.provide(Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory()))))

    it.effect("reports a breach with the request that caused it", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Calls.put(url, Calls.bytesOf("hello"), { ...Calls.ENCRYPTION, authorization: "Bearer x" })
        const error = yield* Effect.flip(Sandbox.expectNoBreach)
        assert.strictEqual(
          error.message,
          "The client broke the contract 1 times:\n" +
            `  BearerAtStorage: An Authorization header was sent to the storage (put of file ${id}, attempt 1)`
        )
      }).pipe(Effect.provide(Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory()))))
  })
})
