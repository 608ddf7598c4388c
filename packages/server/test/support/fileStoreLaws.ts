import { assert, describe, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Chunk, Effect, Exit, Stream } from "effect"
import { FileStore } from "../../src/FileStore.js"

const bytes = (size: number, first = 0) => Uint8Array.from({ length: size }, (_, index) => (first + index * 31) % 251)

const contentOf = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

const codeOf = <A, R>(effect: Effect.Effect<A, { readonly code: string; readonly status: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)

/** What every store of files does, whatever keeps the bytes. `partSize` is the smallest part that it takes, in bytes. */
export const laws = <E>(name: string, layer: Layer.Layer<FileStore, E>, partSize: number): void => {
  describe(`the store of files ${name}`, () => {
    let count = 0
    const law = <A, F>(what: string, run: (store: FileStore["Type"], key: string) => Effect.Effect<A, F>) =>
      it.live(
        what,
        () => {
          // one bucket, and a name with everything that a URL or XML would take for something else
          const key = `files/a&b <c>%2F'(é)+/${process.pid}-${Date.now()}-${count++}`
          return Effect.provide(Effect.flatMap(FileStore, (store) => run(store, key)), layer)
        },
        120_000
      )

    const uploaded = (store: FileStore["Type"], key: string) =>
      Effect.gen(function*() {
        const uploadId = yield* store.createUpload(key, { contentType: "text/plain" })
        const bodies = [bytes(partSize), bytes(3, 7)]
        const parts = yield* Effect.forEach(
          bodies,
          (body, index) => store.putPart(key, uploadId, index + 1, Stream.make(body))
        )
        return { uploadId, parts, content: Buffer.concat(bodies) }
      })

    law("combines parts into an object, whole or by range", (store, key) =>
      Effect.gen(function*() {
        const { content, parts, uploadId } = yield* uploaded(store, key)
        assert.deepStrictEqual(
          (yield* store.parts(key, uploadId)).map(({ partNumber, size }) => [partNumber, size]),
          [[1, partSize], [2, 3]]
        )
        const made = yield* store.completeUpload(key, uploadId, parts)
        const { contentType, etag, size } = yield* store.head(key)
        assert.deepStrictEqual([contentType, etag, size], ["text/plain", made.etag, partSize + 3])
        assert.isTrue((yield* contentOf(store.get(key))).equals(content))
        const range = { offset: partSize - 2, length: 4 }
        assert.isTrue((yield* contentOf(store.get(key, range))).equals(content.subarray(partSize - 2, partSize + 2)))
        assert.strictEqual((yield* contentOf(store.get(key, { offset: 0, length: 0 }))).byteLength, 0)
        assert.deepStrictEqual(yield* store.opened(key), [])
        yield* store.remove(key)
      }))

    law("refuses a list with an etag that no part has, and keeps the upload", (store, key) =>
      Effect.gen(function*() {
        const { parts, uploadId } = yield* uploaded(store, key)
        const wrong = parts.map((part) => ({ ...part, etag: "\"00000000000000000000000000000000\"" }))
        assert.strictEqual(yield* codeOf(store.completeUpload(key, uploadId, wrong)), "InvalidPart")
        assert.strictEqual((yield* Effect.flip(store.head(key))).status, 404)
        assert.strictEqual((yield* store.completeUpload(key, uploadId, parts)).size, partSize + 3)
        yield* store.remove(key)
      }))

    law(
      "tells which uploads of a key are open, until they are aborted, which may be asked again",
      (store, key) =>
        Effect.gen(function*() {
          const open = yield* Effect.all([store.createUpload(key), store.createUpload(key)])
          const other = yield* store.createUpload(`${key}-longer`)
          assert.deepStrictEqual([...(yield* store.opened(key))].sort(), [...open].sort())
          yield* Effect.forEach(open, (uploadId) => store.abortUpload(key, uploadId))
          yield* Effect.forEach(open, (uploadId) => store.abortUpload(key, uploadId))
          assert.deepStrictEqual(yield* store.opened(key), [])
          assert.deepStrictEqual(yield* store.opened(`${key}-longer`), [other])
          yield* store.abortUpload(`${key}-longer`, other)
        })
    )

    law("gives an object only as it was, if asked so", (store, key) =>
      Effect.gen(function*() {
        const first = yield* store.put(key, Stream.make(bytes(5)))
        const second = yield* store.put(key, Stream.make(bytes(5, 9)))
        assert.isTrue((yield* contentOf(store.get(key, undefined, { etag: second.etag }))).equals(bytes(5, 9)))
        // where versions are kept, the first is still there
        const read = yield* Effect.either(contentOf(store.get(key, undefined, first)))
        assert.isTrue(
          read._tag === "Right"
            ? first.versionId !== undefined && read.right.equals(bytes(5))
            : read.left.code === "PreconditionFailed"
        )
        yield* store.remove(key)
      }))

    law("removes an object, and does not fail if it is already removed", (store, key) =>
      Effect.gen(function*() {
        const { versionId } = yield* store.put(key, Stream.make(bytes(5)))
        yield* store.remove(key)
        yield* store.remove(key)
        for (const which of [undefined, { versionId }]) {
          const { code, status } = yield* Effect.flip(store.head(key, which))
          assert.deepStrictEqual([code, status], ["NoSuchKey", 404])
        }
        assert.strictEqual(yield* codeOf(contentOf(store.get(key))), "NoSuchKey")
      }))

    law(
      "is ready",
      (store) => Effect.map(Effect.exit(store.ready ?? Effect.void), (exit) => assert.isTrue(Exit.isSuccess(exit)))
    )
  })
}
