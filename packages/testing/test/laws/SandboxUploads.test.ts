import { assert, describe, it } from "@effect/vitest"
import { StorageRefused } from "@stevedore/server"
import { Context, Effect, Exit, FastCheck, Fiber, Layer, Stream, TestClock } from "effect"
import { ObjectStore, ObjectStoreMemory, Sandbox, SandboxHttp } from "../../src/index.js"
import * as SandboxFiles from "../../src/sandbox/files.js"
import * as Calls from "../Calls.js"
import { runs } from "../support/runs.js"

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
    { fastCheck: { numRuns: runs(500) } }
  )

  it("derives the file id from its key, and none from a foreign key", () => {
    assert.strictEqual(SandboxFiles.fileIdOf(SandboxFiles.keyOf("abc")), "abc")
    assert.isUndefined(SandboxFiles.fileIdOf("elsewhere/abc"))
  })
})

/** A sandbox, and the store behind it, which may differ from the one in memory. */
const over = (
  change: (store: ObjectStore.ObjectStoreService) => Partial<ObjectStore.ObjectStoreService> = () => ({})
) =>
  SandboxHttp.layerClient.pipe(
    Layer.provideMerge(Sandbox.layer()),
    Layer.provideMerge(
      Layer.map(
        ObjectStoreMemory.layer(),
        (context) => {
          const store = Context.get(context, ObjectStore.ObjectStore)
          return Context.make(ObjectStore.ObjectStore, { ...store, ...change(store) })
        }
      )
    )
  )

const complete = (fileId: string) => Calls.json("POST", `/v2/files/${fileId}/upload/complete`)

const completeLarge = (fileId: string, uploadId: string, etags: ReadonlyArray<string>) =>
  Calls.json("POST", `/v2/files/${fileId}/large-upload/complete`, {
    upload_id: uploadId,
    parts: etags.map((etag, index) => ({ part_number: index + 1, etag }))
  })

const storePart = (fileId: string, uploadId: string) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const key = SandboxFiles.keyOf(fileId)
    const { etag } = yield* store.putPart(key, uploadId, 1, Stream.succeed(new Uint8Array(5)))
    return etag
  })

const withObjectOf = (size: number) =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const { id } = yield* Calls.initiate(5)
    yield* store.put(SandboxFiles.keyOf(id), Stream.succeed(new Uint8Array(size)))
    return { id, store }
  })

describe("the uploads of a sandbox", () => {
  it.effect("have the store's own URLs if the store signs them itself", () => {
    const asked: Array<ObjectStore.PresignRequest> = []
    const presign = (request: ObjectStore.PresignRequest) =>
      Effect.sync(() => {
        asked.push(request)
        return `https://real.test/${request.part?.partNumber ?? "whole"}`
      })
    return Effect.gen(function*() {
      assert.strictEqual((yield* Calls.initiate(5)).url, "https://real.test/whole")
      assert.deepStrictEqual((yield* Calls.initiateLarge(5, 2)).urls, ["https://real.test/1", "https://real.test/2"])
      assert.deepStrictEqual(asked.map(({ expiresIn, headers, method }) => [method, expiresIn, headers]), [
        ["PUT", 10_800, { "x-amz-server-side-encryption": "aws:kms" }],
        ["PUT", 10_800, {}],
        ["PUT", 10_800, {}]
      ])
    }).pipe(Effect.provide(over(() => ({ presign }))))
  })

  it.effect("cannot be completed after 24 hours, and their parts are then deleted from the store", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore.ObjectStore
      const { id, uploadId } = yield* Calls.initiateLarge(5, 1)
      const key = SandboxFiles.keyOf(id)
      yield* TestClock.adjust("24 hours")
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(store.parts(key, uploadId))))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* completeLarge(id, uploadId, ["e"])).status, 404)
      assert.strictEqual((yield* Effect.flip(store.parts(key, uploadId))).code, "NoSuchUpload")
    }).pipe(Effect.provide(over())))

  it.effect("are kept for longer than 24 hours once they are files", () =>
    Effect.gen(function*() {
      const { id, store } = yield* withObjectOf(5)
      yield* complete(id)
      yield* TestClock.adjust("25 hours")
      assert.deepNestedInclude(yield* Calls.json("GET", `/v1/files/${id}`), { "body.data.status": "completed" })
      assert.strictEqual((yield* store.head(SandboxFiles.keyOf(id))).size, 5)
    }).pipe(Effect.provide(over())))

  it.effect("lose an object from the store whose size is not the declared one", () =>
    Effect.gen(function*() {
      const { id, store } = yield* withObjectOf(4)
      assert.strictEqual((yield* complete(id)).status, 422)
      assert.strictEqual((yield* Effect.flip(store.head(SandboxFiles.keyOf(id)))).code, "NoSuchKey")
    }).pipe(Effect.provide(over())))

  it.effect("are completed once for all who ask, even if the first of them goes away", () => {
    let completions = 0
    return Effect.gen(function*() {
      const { id, uploadId } = yield* Calls.initiateLarge(5, 1)
      const etag = yield* storePart(id, uploadId)
      const first = yield* Effect.fork(completeLarge(id, uploadId, [etag]))
      const second = yield* Effect.fork(completeLarge(id, uploadId, [etag]))
      yield* TestClock.adjust("1 second")
      yield* Fiber.interruptFork(first)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(second)).status, 200)
      assert.strictEqual(completions, 1)
    }).pipe(Effect.provide(over((store) => ({
      completeUpload: (key, uploadId, parts) =>
        Effect.suspend(() => {
          completions += 1
          return Effect.delay(store.completeUpload(key, uploadId, parts), "10 seconds")
        })
    }))))
  })

  it.effect("are files once the store has completed them, though its answer was lost, but not if it forgot them", () =>
    Effect.gen(function*() {
      for (const isForgotten of [false, true]) {
        const { id, uploadId } = yield* Calls.initiateLarge(5, 1)
        const etag = yield* storePart(id, uploadId)
        const store = yield* ObjectStore.ObjectStore
        if (isForgotten) yield* store.abortUpload(SandboxFiles.keyOf(id), uploadId)
        const expected = isForgotten ? 502 : 200
        assert.strictEqual((yield* completeLarge(id, uploadId, [etag])).status, expected)
        assert.strictEqual((yield* completeLarge(id, uploadId, [etag])).status, expected)
      }
    }).pipe(Effect.provide(over((store) => ({
      completeUpload: (key, uploadId, parts) =>
        Effect.zipRight(store.completeUpload(key, uploadId, parts), StorageRefused.make("ServiceUnavailable"))
    })))))
})
