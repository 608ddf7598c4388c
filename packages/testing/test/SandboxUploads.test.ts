import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, FastCheck, Fiber, Stream, TestClock } from "effect"
import { ObjectStore, ObjectStoreMemory, SandboxOptions, StorageRefused } from "../src/index.js"
import * as SandboxFiles from "../src/SandboxFiles.js"
import * as SandboxUploads from "../src/SandboxUploads.js"

const MIB = 1024 * 1024

describe("SandboxFiles", () => {
  it.prop(
    "chooses 1 to 10000 parts for every size, with a part size of at least the minimum if there are several",
    {
      size: FastCheck.integer({ min: 1, max: 10_000_000_000 }),
      recommendedPartSize: FastCheck.integer({ min: 1, max: 5_000_000_000 })
    },
    ({ recommendedPartSize, size }) => {
      const parts = SandboxFiles.chooseParts(size, { recommendedPartSize, minimumPartSize: 5 * MIB })
      const partSize = Math.ceil(size / parts)
      assert.isTrue(parts >= 1 && parts <= 10_000)
      assert.isTrue(parts === 1 || partSize >= 5 * MIB)
    },
    { fastCheck: { numRuns: 500 } }
  )

  it("derives the file id from its key, and none from a foreign key", () => {
    assert.strictEqual(SandboxFiles.fileIdOf(SandboxFiles.keyOf("abc")), "abc")
    assert.isUndefined(SandboxFiles.fileIdOf("elsewhere/abc"))
  })
})

const declared = { name: "a", type: undefined, size: 5 }

const withObjectOf = (size: number) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const uploads = SandboxUploads.make(SandboxOptions.resolve(), store)
    const { fileId } = yield* uploads.initiate(declared)
    yield* store.put(SandboxFiles.keyOf(fileId), Stream.succeed(new Uint8Array(size)))
    return { fileId, store, uploads }
  })

describe("SandboxUploads", () => {
  it.effect("returns the store's own URLs if the store signs them itself", () =>
    Effect.gen(function*() {
      const asked: Array<ObjectStore.PresignRequest> = []
      const store: ObjectStore.ObjectStoreService = {
        ...(yield* ObjectStore.ObjectStore),
        presign: (request) =>
          Effect.sync(() => {
            asked.push(request)
            return `https://real.test/${request.part?.partNumber ?? "whole"}`
          })
      }
      const uploads = SandboxUploads.make(SandboxOptions.resolve(), store)
      const single = yield* uploads.initiate(declared)
      const large = yield* uploads.initiateLarge(declared, 2)
      assert.strictEqual(single.uploadUrl, "https://real.test/whole")
      assert.deepStrictEqual(large.urls, ["https://real.test/1", "https://real.test/2"])
      assert.deepStrictEqual(asked.map(({ expiresIn, headers, method }) => [method, expiresIn, headers]), [
        ["PUT", 10_800, { "x-amz-server-side-encryption": "aws:kms" }],
        ["PUT", 10_800, {}],
        ["PUT", 10_800, {}]
      ])
    }).pipe(Effect.provide(ObjectStoreMemory.layer())))

  it.effect("rejects the completion of an upload after 24 hours and deletes its parts from the store", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const uploads = SandboxUploads.make(SandboxOptions.resolve(), store)
      const { fileId, uploadId } = yield* uploads.initiateLarge(declared, 1)
      const key = SandboxFiles.keyOf(fileId)
      yield* TestClock.adjust("24 hours")
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(store.parts(key, uploadId))))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(uploads.completeLarge(fileId, uploadId, []))).status, 404)
      assert.strictEqual((yield* Effect.flip(store.parts(key, uploadId))).code, "NoSuchUpload")
    }).pipe(Effect.provide(ObjectStoreMemory.layer())))

  it.effect("keeps a finalized file for longer than 24 hours", () =>
    Effect.gen(function*() {
      const { fileId, store, uploads } = yield* withObjectOf(5)
      yield* uploads.complete(fileId)
      yield* TestClock.adjust("25 hours")
      assert.strictEqual((yield* uploads.file(fileId)).status, "completed")
      assert.strictEqual((yield* store.head(SandboxFiles.keyOf(fileId))).size, 5)
    }).pipe(Effect.provide(ObjectStoreMemory.layer())))

  it.effect("deletes an object from the store whose size is not the declared one", () =>
    Effect.gen(function*() {
      const { fileId, store, uploads } = yield* withObjectOf(4)
      assert.strictEqual((yield* Effect.flip(uploads.complete(fileId))).status, 422)
      assert.strictEqual((yield* Effect.flip(store.head(SandboxFiles.keyOf(fileId)))).code, "NoSuchKey")
    }).pipe(Effect.provide(ObjectStoreMemory.layer())))

  it.effect("completes an upload once for all who ask, even if the first of them goes away", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      let completions = 0
      const slow: ObjectStore.ObjectStoreService = {
        ...store,
        completeUpload: (key, uploadId, parts) =>
          Effect.suspend(() => {
            completions += 1
            return Effect.delay(store.completeUpload(key, uploadId, parts), "1 minute")
          })
      }
      const uploads = SandboxUploads.make(SandboxOptions.resolve(), slow)
      const { fileId, uploadId } = yield* uploads.initiateLarge(declared, 1)
      const part = yield* store.putPart(SandboxFiles.keyOf(fileId), uploadId, 1, Stream.succeed(new Uint8Array(5)))
      const complete = uploads.completeLarge(fileId, uploadId, [part])
      const first = yield* Effect.fork(complete)
      const second = yield* Effect.fork(complete)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interruptFork(first)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* Fiber.join(second)).status, "completed")
      assert.strictEqual(completions, 1)
    }).pipe(Effect.provide(ObjectStoreMemory.layer())))

  it.effect("finalizes an upload that the store completed, though its answer was lost, but none that it forgot", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const lossy: ObjectStore.ObjectStoreService = {
        ...store,
        completeUpload: (key, uploadId, parts) =>
          Effect.zipRight(store.completeUpload(key, uploadId, parts), StorageRefused.make("ServiceUnavailable"))
      }
      const uploads = SandboxUploads.make(SandboxOptions.resolve(), lossy)
      for (const isForgotten of [false, true]) {
        const { fileId, uploadId } = yield* uploads.initiateLarge(declared, 1)
        const key = SandboxFiles.keyOf(fileId)
        const part = yield* store.putPart(key, uploadId, 1, Stream.succeed(new Uint8Array(5)))
        if (isForgotten) yield* store.abortUpload(key, uploadId)
        const complete = Effect.either(uploads.completeLarge(fileId, uploadId, [part]))
        assert.deepInclude(Either.flip(yield* complete).pipe(Either.getOrThrow), { status: 502 })
        const again = Either.match(yield* complete, { onLeft: ({ status }) => status, onRight: ({ status }) => status })
        assert.strictEqual(again, isForgotten ? 502 : "completed")
      }
    }).pipe(Effect.provide(ObjectStoreMemory.layer())))
})
