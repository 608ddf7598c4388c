import { assert, describe, it } from "@effect/vitest"
import type { Layer } from "effect"
import { Chunk, Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import { FileStore } from "../../src/FileStore.js"

const bytes = (size: number, first = 0) => Uint8Array.from({ length: size }, (_, index) => (first + index * 31) % 251)

const contentOf = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

const codeOf = <A, R>(effect: Effect.Effect<A, { readonly code: string; readonly status: number }, R>) =>
  Effect.map(Effect.flip(effect), ({ code }) => code)

/** How a client's PUT of a whole object comes to a store. Fails where the store does not take it. */
export type Put = (
  store: FileStore["Type"],
  key: string,
  body: Stream.Stream<Uint8Array>
) => Effect.Effect<unknown, unknown>

const itself: Put = (store, key, body) => store.put(key, body)

/** Every order in which the steps of all can come, each with its own in their order. */
const interleaved = (all: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const left = all.filter((steps) => steps.length > 0)
  return left.length === 0 ?
    [[]] :
    left.flatMap((steps) =>
      interleaved(left.map((other) => other === steps ? other.slice(1) : other)).map((rest) => [
        ...steps.slice(0, 1),
        ...rest
      ])
    )
}

const everyHistory = interleaved([["a begins", "a ends"], ["b begins", "b ends"], ["completed"]])

/** What a late body could do is in these: they are as many as there is time for, and all of them in the wider suite. */
const histories = everyHistory.filter((history, index) =>
  index % Math.ceil(everyHistory.length / runs(everyHistory.length)) === 0 ||
  history.join() === "a begins,b begins,b ends,completed,a ends"
)

/** A body of which half has come, and the rest when it is asked for. */
const halved = (content: Uint8Array) => {
  const half = Deferred.unsafeMake<void>(Fiber.id(Fiber.void))
  const rest = Deferred.unsafeMake<void>(Fiber.id(Fiber.void))
  const middle = Math.ceil(content.length / 2)
  return {
    half: Deferred.await(half),
    end: Deferred.succeed(rest, undefined),
    body: Stream.concat(
      Stream.make(content.subarray(0, middle)),
      Stream.unwrap(
        Deferred.succeed(half, undefined).pipe(
          Effect.zipRight(Deferred.await(rest)),
          Effect.as(Stream.make(content.subarray(middle)))
        )
      )
    )
  }
}

/**
 * Two bodies are sent, and somewhere between their steps the upload is completed: what is read from then on is one of those
 * that had been stored by then, whole, whatever ends later.
 */
const replayed = <E>(
  history: ReadonlyArray<string>,
  contents: { readonly a: Uint8Array; readonly b: Uint8Array },
  sends: (body: Stream.Stream<Uint8Array>) => Effect.Effect<unknown, unknown>,
  completes: Effect.Effect<Effect.Effect<Buffer, E>, unknown>
) =>
  Effect.gen(function*() {
    const bodies = { a: halved(contents.a), b: halved(contents.b) }
    const sent = new Map<string, Fiber.Fiber<unknown, unknown>>()
    const stored: Array<Uint8Array> = []
    let completed: { readonly read: Effect.Effect<Buffer, E>; readonly content: Buffer } | undefined
    for (const step of [...history, "completed"]) {
      if (step === "completed") {
        if (completed === undefined && stored.length > 0) {
          const read = yield* completes
          completed = { read, content: yield* read }
          const { content } = completed
          assert.isTrue(stored.some((one) => content.equals(one)), history.join())
        }
        continue
      }
      const name = step.startsWith("a") ? "a" : "b"
      const { body, end, half } = bodies[name]
      if (step.endsWith("begins")) {
        const fiber = yield* Effect.fork(sends(body))
        sent.set(name, fiber)
        yield* Effect.raceFirst(half, Fiber.await(fiber))
      } else {
        yield* end
        const fiber = sent.get(name)
        const exit = fiber === undefined ? Exit.void : yield* Fiber.await(fiber)
        if (Exit.isSuccess(exit)) stored.push(contents[name])
      }
      if (completed !== undefined) assert.isTrue((yield* completed.read).equals(completed.content), history.join())
    }
    assert.isDefined(completed, history.join())
  })

/** What every store of files does, whatever keeps the bytes. `partSize` is the smallest part that it takes, in bytes. */
export const laws = <E>(name: string, layer: Layer.Layer<FileStore, E>, partSize: number, put: Put = itself): void => {
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
      "keeps what was completed, whatever PUT ends later, whenever it began",
      (store, key) =>
        Effect.forEach(histories, (history, index) => {
          const one = `${key}-${index}`
          return replayed(
            history,
            { a: bytes(6), b: bytes(6, index % 2) },
            (body) => put(store, one, body),
            Effect.map(store.seal(one), (object) => contentOf(store.get(one, undefined, object)))
          ).pipe(
            Effect.tap(() => Effect.all([store.seal(one), store.seal(one)])),
            Effect.zipRight(store.remove(one))
          )
        })
    )

    law(
      "keeps what was completed, whatever PUT of a part ends later, whenever it began",
      (store, key) =>
        Effect.forEach(histories, (history, index) =>
          Effect.gen(function*() {
            const one = `${key}-${index}`
            const uploadId = yield* store.createUpload(one)
            yield* replayed(
              history,
              { a: bytes(6), b: bytes(6, 1) },
              (body) => store.putPart(one, uploadId, 1, body),
              store.parts(one, uploadId).pipe(
                Effect.flatMap((parts) => store.completeUpload(one, uploadId, parts)),
                Effect.zip(store.seal(one)),
                Effect.map(([made, sealed]) => {
                  assert.strictEqual(sealed.etag, made.etag)
                  return contentOf(store.get(one, undefined, sealed))
                })
              )
            )
            yield* store.remove(one)
          }))
    )

    law("seals nothing where nothing is stored", (store, key) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(store.seal(key))).status, 404)
        yield* put(store, key, Stream.make(bytes(5)))
        assert.strictEqual((yield* store.seal(key)).size, 5)
        yield* store.remove(key)
        assert.strictEqual((yield* Effect.flip(store.head(key))).status, 404)
      }))

    law(
      "is ready",
      (store) => Effect.map(Effect.exit(store.ready ?? Effect.void), (exit) => assert.isTrue(Exit.isSuccess(exit)))
    )
  })
}
