import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Exit, Layer, Stream } from "effect"
import { type ObjectStore, ObjectStoreDirectory, ObjectStoreMemory } from "../../src/index.js"
import { body, KEY, laws, MINIMUM, read, store, uploaded } from "../support/objectStoreLaws.js"

const directory = Layer.unwrapScoped(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-object-store-" })
  return ObjectStoreDirectory.layer({ directory: `${folder}/store`, minimumPartSize: MINIMUM })
})).pipe(Layer.provide(NodeContext.layer), Layer.orDie)

const memory = ObjectStoreMemory.layer({ minimumPartSize: MINIMUM })

laws("memory", memory)
laws("directory", directory)

describe("ObjectStoreMemory", () => {
  it.effect("copies the bytes that it stores, so that the caller can reuse the buffer", () =>
    Effect.gen(function*() {
      const { get, put } = yield* store
      const buffer = Buffer.from("0123")
      yield* put(KEY, Stream.succeed(buffer))
      buffer.fill("x")
      assert.strictEqual(yield* read(get(KEY)), "0123")
    }).pipe(Effect.provide(memory)))
})

describe("ObjectStoreDirectory", () => {
  const withDirectory = <A, E>(
    use: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, ObjectStore.ObjectStore>
  ) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const layer = ObjectStoreDirectory.layer({ directory: folder, minimumPartSize: MINIMUM })
      const inside = yield* Effect.provide(use(folder, fs), layer)
      return { inside, left: yield* fs.readDirectory(folder, { recursive: true }) }
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

  const files = (folder: string, fs: FileSystem.FileSystem) =>
    Effect.map(fs.readDirectory(folder, { recursive: true }), (names) => names.filter((name) => /\/[^.]/.test(name)))

  it.effect("leaves no files of replaced, failed or aborted writes, and none at all after it closes", () =>
    Effect.gen(function*() {
      const { inside, left } = yield* withDirectory((folder, fs) =>
        Effect.gen(function*() {
          const { abortUpload, completeUpload, get, put, putPart } = yield* store
          yield* put(KEY, body("0123"))
          const one = yield* put(KEY, body("4567"))
          yield* Stream.runDrain(Stream.tap(get(KEY), () => put(KEY, body(one.etag))))
          yield* Effect.exit(put("files/2", Stream.concat(body("0123"), Stream.fail("broken"))))
          const aborted = yield* uploaded(["0123", "4567"])
          yield* abortUpload(KEY, aborted.uploadId)
          const late = yield* uploaded([])
          const aborting = Stream.drain(Stream.fromEffect(abortUpload(KEY, late.uploadId)))
          yield* Effect.exit(putPart(KEY, late.uploadId, 1, Stream.concat(body("0123"), aborting)))
          const done = yield* uploaded(["0123", "4567", "8"])
          const again = yield* putPart(KEY, done.uploadId, 1, body("abcd"))
          yield* completeUpload(KEY, done.uploadId, [again, ...done.parts.slice(2)])
          return yield* files(folder, fs)
        })
      )
      assert.lengthOf(inside, 2)
      assert.deepStrictEqual(left, [])
    }))

  it.effect("stores a large body whole, and reads it in chunks of at most 1 MiB", () =>
    Effect.gen(function*() {
      const piece = new Uint8Array(64 * 1024).fill(7)
      const pieces = 640
      const { inside } = yield* withDirectory(() =>
        Effect.gen(function*() {
          const { get, put } = yield* store
          const object = yield* put(KEY, Stream.fromChunk(Chunk.makeBy(pieces, () => piece)))
          const sizes = yield* Stream.runFold(get(KEY), { total: 0, largest: 0 }, (seen, chunk) => ({
            total: seen.total + chunk.byteLength,
            largest: Math.max(seen.largest, chunk.byteLength)
          }))
          return { stored: object.size, ...sizes }
        })
      )
      assert.deepStrictEqual(inside, {
        stored: pieces * piece.byteLength,
        total: pieces * piece.byteLength,
        largest: 1024 * 1024
      })
    }))

  it.effect("fails if its directory cannot be created", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const exit = yield* Effect.exit(
        Effect.scoped(Layer.build(ObjectStoreDirectory.layer({ directory: `${file}/store` })))
      )
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)))
})
