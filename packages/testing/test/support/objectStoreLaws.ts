import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Stream } from "effect"
import type { Layer } from "effect"
import { ObjectStore } from "../../src/index.js"
import * as Calls from "../Calls.js"
import { runs } from "./runs.js"

export const KEY = "files/1"
export const MINIMUM = 4

export const body = (...texts: ReadonlyArray<string>) => Stream.fromIterable(texts.map(Calls.bytesOf))

export const read = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

export const store = ObjectStore.ObjectStore

export const refusedWith = <A, R>(effect: Effect.Effect<A, { readonly code: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)

export const uploaded = (texts: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const { createUpload, putPart } = yield* store
    const uploadId = yield* createUpload(KEY)
    const parts = yield* Effect.forEach(texts, (text, index) => putPart(KEY, uploadId, index + 1, body(text)))
    return { uploadId, parts }
  })

/** What every object store does, whatever keeps its bytes and its index. `MINIMUM` is the smallest part that it takes. */
export const laws = <E>(name: string, layer: Layer.Layer<ObjectStore.ObjectStore, E>): void => {
  describe(`ObjectStore in ${name}`, () => {
    it.effect("returns a stored object whole or by range", () =>
      Effect.gen(function*() {
        const { get, head, put } = yield* store
        const object = yield* put(KEY, body("0123", "", "456789"), { contentType: "text/plain" })
        assert.strictEqual(object.size, 10)
        assert.strictEqual((yield* head(KEY)).etag, object.etag)
        assert.strictEqual((yield* head(KEY)).contentType, "text/plain")
        assert.strictEqual(yield* read(get(KEY)), "0123456789")
        assert.strictEqual(yield* read(get(KEY, { offset: 3, length: 3 })), "345")
      }).pipe(Effect.provide(layer)))

    it.effect.each(["replaced", "removed", "completed"] as const)(
      "goes on serving whoever reads an object that is %s meanwhile, each what it began to read",
      (how) =>
        Effect.gen(function*() {
          const { completeUpload, get, put, remove } = yield* store
          const earlier = yield* uploaded(["0123", "4567", "89"])
          yield* completeUpload(KEY, earlier.uploadId, earlier.parts)
          const later = yield* uploaded(["abcd", "efgh"])
          const change: Effect.Effect<unknown, unknown> = {
            replaced: put(KEY, body("abcdefgh")),
            removed: remove(KEY),
            completed: completeUpload(KEY, later.uploadId, later.parts)
          }[how]
          let isFirst = true
          const changing = Stream.tap(get(KEY), () => {
            if (!isFirst) return Effect.void
            isFirst = false
            return change
          })
          const both = Effect.all([read(get(KEY, { offset: 2, length: 8 })), read(changing)], { concurrency: 2 })
          assert.deepStrictEqual(yield* both, ["23456789", "0123456789"])
          const after = yield* Effect.either(read(get(KEY)))
          assert.strictEqual(
            Either.getOrElse(after, ({ code }) => code),
            how === "removed" ? "NoSuchKey" : "abcdefgh"
          )
        }).pipe(Effect.provide(layer))
    )

    it.effect("stores an empty object", () =>
      Effect.gen(function*() {
        const { get, put } = yield* store
        assert.strictEqual((yield* put(KEY, Stream.empty)).size, 0)
        assert.strictEqual(yield* read(get(KEY)), "")
      }).pipe(Effect.provide(layer)))

    it.effect("stores nothing if the body fails", () =>
      Effect.gen(function*() {
        const { head, put } = yield* store
        const broken = Stream.concat(body("0123"), Stream.fail("broken"))
        assert.strictEqual(yield* Effect.flip(put(KEY, broken)), "broken")
        assert.strictEqual(yield* refusedWith(head(KEY)), "NoSuchKey")
      }).pipe(Effect.provide(layer)))

    it.effect("gives every write its own etag, even for the same content", () =>
      Effect.gen(function*() {
        const { get, put } = yield* store
        const first = yield* put(KEY, body("same"))
        const second = yield* put(KEY, body("same"))
        assert.match(first.etag, /^"[0-9a-f]{32}"$/)
        assert.notStrictEqual(first.etag, second.etag)
        assert.strictEqual(yield* read(get(KEY)), "same")
      }).pipe(Effect.provide(layer)))

    it.effect("removes an object, and does not fail if it is already removed", () =>
      Effect.gen(function*() {
        const { head, put, remove } = yield* store
        yield* put(KEY, body("0123"))
        yield* remove(KEY)
        yield* remove(KEY)
        assert.strictEqual(yield* refusedWith(head(KEY)), "NoSuchKey")
      }).pipe(Effect.provide(layer)))

    it.effect("joins the parts into one object in the order of their numbers", () =>
      Effect.gen(function*() {
        const { completeUpload, get, parts: listed } = yield* store
        const { parts, uploadId } = yield* uploaded(["0123", "45678", "9"])
        assert.strictEqual((yield* listed(KEY, uploadId)).length, 3)
        const object = yield* completeUpload(KEY, uploadId, parts)
        assert.strictEqual(object.size, 10)
        assert.match(object.etag, /^"[0-9a-f]{32}-3"$/)
        assert.strictEqual(yield* read(get(KEY)), "0123456789")
      }).pipe(Effect.provide(layer)))

    it.effect("keeps the last write of a part, and rejects the etag of an earlier write", () =>
      Effect.gen(function*() {
        const { completeUpload, get, putPart } = yield* store
        const { parts, uploadId } = yield* uploaded(["0123"])
        const later = yield* putPart(KEY, uploadId, 1, body("abcd"))
        assert.strictEqual(yield* refusedWith(completeUpload(KEY, uploadId, parts)), "InvalidPart")
        yield* completeUpload(KEY, uploadId, [later])
        assert.strictEqual(yield* read(get(KEY)), "abcd")
      }).pipe(Effect.provide(layer)))

    it.effect("rejects an invalid list of parts, and completion can be retried", () =>
      Effect.gen(function*() {
        const { completeUpload } = yield* store
        const { parts, uploadId } = yield* uploaded(["0123", "456", "7"])
        const [first, second, third] = parts
        const unquoted = parts.map((part) => ({ ...part, etag: part.etag.slice(1, -1) }))
        const complete = (list: ReadonlyArray<ObjectStore.StoredPart | undefined>) =>
          completeUpload(KEY, uploadId, list.filter((part) => part !== undefined))
        assert.strictEqual(yield* refusedWith(complete([second, first])), "InvalidPartOrder")
        assert.strictEqual(yield* refusedWith(complete([first, first])), "InvalidPartOrder")
        assert.strictEqual(yield* refusedWith(complete(parts)), "EntityTooSmall")
        assert.strictEqual(yield* refusedWith(complete(unquoted)), "InvalidPart")
        assert.strictEqual(yield* refusedWith(complete([])), "MalformedXML")
        assert.strictEqual((yield* complete([first, third])).size, 5)
      }).pipe(Effect.provide(layer)))

    it.effect("rejects parts and completion with NoSuchUpload after the upload has ended", () =>
      Effect.gen(function*() {
        const { abortUpload, completeUpload, putPart } = yield* store
        const done = yield* uploaded(["0123"])
        yield* completeUpload(KEY, done.uploadId, done.parts)
        const aborted = yield* uploaded(["0123"])
        yield* abortUpload(KEY, aborted.uploadId)
        yield* abortUpload(KEY, aborted.uploadId)
        for (const { parts, uploadId } of [done, aborted]) {
          assert.strictEqual(yield* refusedWith(putPart(KEY, uploadId, 1, body("0123"))), "NoSuchUpload")
          assert.strictEqual(yield* refusedWith(completeUpload(KEY, uploadId, parts)), "NoSuchUpload")
        }
        assert.strictEqual(yield* refusedWith(putPart("files/2", "unknown", 1, body("0123"))), "NoSuchUpload")
      }).pipe(Effect.provide(layer)))

    it.effect("rejects a part for another object than the upload's with NoSuchUpload", () =>
      Effect.gen(function*() {
        const { parts, putPart } = yield* store
        const { uploadId } = yield* uploaded([])
        assert.strictEqual(yield* refusedWith(putPart("files/2", uploadId, 1, body("0123"))), "NoSuchUpload")
        assert.deepStrictEqual(yield* parts(KEY, uploadId), [])
      }).pipe(Effect.provide(layer)))

    it.effect("lists the parts in ascending order, however they arrived", () =>
      Effect.gen(function*() {
        const { parts, putPart } = yield* store
        const { uploadId } = yield* uploaded([])
        yield* Effect.forEach([3, 1, 2], (partNumber) => putPart(KEY, uploadId, partNumber, body("0123")))
        assert.deepStrictEqual((yield* parts(KEY, uploadId)).map(({ partNumber }) => partNumber), [1, 2, 3])
      }).pipe(Effect.provide(layer)))

    it.effect("rejects a part whose upload is aborted while the part's body arrives", () =>
      Effect.gen(function*() {
        const { abortUpload, putPart } = yield* store
        const { uploadId } = yield* uploaded([])
        const late = Stream.concat(body("0123"), Stream.drain(Stream.fromEffect(abortUpload(KEY, uploadId))))
        assert.strictEqual(yield* refusedWith(putPart(KEY, uploadId, 1, late)), "NoSuchUpload")
      }).pipe(Effect.provide(layer)))

    it.effect.prop(
      "returns any range of an object, however it is split into parts",
      {
        texts: FastCheck.array(
          FastCheck.string({ unit: FastCheck.constantFrom(..."abcdef"), minLength: 4, maxLength: 9 }),
          {
            minLength: 1,
            maxLength: 5
          }
        ),
        from: FastCheck.nat(50),
        length: FastCheck.nat(50)
      },
      ({ from, length, texts }) =>
        Effect.gen(function*() {
          const { completeUpload, get } = yield* store
          const { parts, uploadId } = yield* uploaded(texts)
          yield* completeUpload(KEY, uploadId, parts)
          const whole = texts.join("")
          const range = {
            offset: Math.min(from, whole.length),
            length: Math.min(length, whole.length - Math.min(from, whole.length))
          }
          assert.strictEqual(yield* read(get(KEY, range)), whole.slice(range.offset, range.offset + range.length))
        }).pipe(Effect.provide(layer)),
      { fastCheck: { numRuns: runs(20) } }
    )
  })
}
