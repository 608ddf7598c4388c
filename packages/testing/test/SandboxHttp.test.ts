import { HttpClient, HttpClientError } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { Sandbox, SandboxHttp } from "../src/index.js"
import type { SandboxOptions } from "../src/index.js"
import * as Calls from "./Calls.js"

const sandbox = (options?: SandboxOptions.Options) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory(options))

describe("SandboxHttp", () => {
  it.effect("stores a single upload and returns it byte for byte", () =>
    Effect.gen(function*() {
      const id = yield* Calls.uploaded("hello")
      const download = yield* Calls.api("GET", `/v1/files/${id}/download`)
      assert.strictEqual(yield* download.text, "hello")
      assert.strictEqual(Calls.textOf(yield* Sandbox.stored(id)), "hello")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(sandbox())))

  it.effect("accepts the parts of a multipart upload in any order", () =>
    Effect.gen(function*() {
      const { id, uploadId, urls } = yield* Calls.initiateLarge(11, 3)
      const texts = ["0123", "4567", "890"]
      const etags = yield* Effect.forEach([2, 0, 1], (index) =>
        Effect.map(Calls.putPart(urls[index] ?? "", Calls.bytesOf(texts[index] ?? "")), ({ headers }) => ({
          part_number: index + 1,
          etag: headers["etag"]
        })))
      const parts = [...etags].sort((a, b) =>
        a.part_number - b.part_number
      )
      const done = yield* Calls.json("POST", `/v2/files/${id}/large-upload/complete`, { upload_id: uploadId, parts })
      assert.strictEqual(done.status, 200)
      assert.strictEqual(Calls.textOf(yield* Sandbox.stored(id)), "01234567890")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(sandbox({ minimumPartSize: 4 }))))

  it.effect("stores nothing when the client disconnects in the middle of a body", () =>
    Effect.gen(function*() {
      const { id, url } = yield* Calls.initiate(10)
      const waiting = yield* Deferred.make<void>()
      const body = Stream.concat(
        Stream.succeed(Calls.bytesOf("01234")),
        Stream.drain(Stream.fromEffect(Effect.zipRight(Deferred.succeed(waiting, undefined), Effect.never)))
      )
      const fiber = yield* Effect.fork(
        Calls.storage("PUT", url, { body: Calls.lazy(body, 10), headers: Calls.ENCRYPTION })
      )
      yield* Deferred.await(waiting)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Sandbox.stored(id))))
      const { requests } = yield* Sandbox.report
      assert.strictEqual(requests.at(-1)?.outcome, "aborted")
      assert.strictEqual(requests.at(-1)?.bytesReceived, 5)
    }).pipe(Effect.provide(sandbox())))

  it.effect("fails with the error of the request body as the cause", () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(10)
      const error = yield* Effect.flip(
        Calls.storage("PUT", url, { body: Calls.lazy(Stream.fail("the disk is gone"), 10), headers: Calls.ENCRYPTION })
      )
      assert.instanceOf(error, HttpClientError.RequestError)
      assert.strictEqual(error.cause, "the disk is gone")
    }).pipe(Effect.provide(sandbox())))

  it.effect("breaks the connection and stores nothing when a body is longer than declared", () =>
    Effect.gen(function*() {
      const { id, url } = yield* Calls.initiate(5)
      const error = yield* Effect.flip(
        Calls.storage("PUT", url, {
          body: Calls.streamed([Calls.bytesOf("01234"), Calls.bytesOf("5")], 5),
          headers: Calls.ENCRYPTION
        })
      )
      assert.strictEqual(error._tag, "RequestError")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Sandbox.stored(id))))
    }).pipe(Effect.provide(sandbox())))

  it.effect("fails with a transport error for another host", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(HttpClient.get("https://elsewhere.test/"))
      assert.strictEqual(error._tag, "RequestError")
      assert.strictEqual(error.reason, "Transport")
    }).pipe(Effect.provide(sandbox())))

  it.effect("serves the API below a base path", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Sandbox.Sandbox).baseUrl, "https://api.sandbox.test/api")
      assert.strictEqual((yield* Calls.json("GET", "/v1/token/info")).status, 200)
      const id = yield* Calls.uploaded("hello")
      assert.strictEqual((yield* Calls.json("GET", `/v1/files/${id}`)).status, 200)
    }).pipe(Effect.provide(sandbox({ apiBasePath: "/api" }))))

  it.effect("stores every kind of body that a client can send", () =>
    Effect.gen(function*() {
      for (const body of Calls.rawBodies("hello")) {
        const { id, url } = yield* Calls.initiate(5)
        const { status } = yield* Calls.storage("PUT", url, { body, headers: Calls.ENCRYPTION })
        assert.strictEqual(status, 200)
        assert.strictEqual(Calls.textOf(yield* Sandbox.stored(id)), "hello")
      }
    }).pipe(Effect.provide(sandbox())))
})
