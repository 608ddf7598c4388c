import { FileSystem, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Schedule, Stream } from "effect"
import { createServer } from "node:http"
import { connect } from "node:net"
import {
  FaultScript,
  type ObjectStore,
  ObjectStoreDirectory,
  ObjectStoreMemory,
  Sandbox,
  SandboxHttp
} from "../../src/index.js"
import type { SandboxOptions } from "../../src/index.js"
import * as Calls from "../Calls.js"

const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })

const served = <E, R>(store: Layer.Layer<ObjectStore.ObjectStore, E, R>, options?: SandboxOptions.Options) =>
  Layer.scoped(
    Sandbox.Sandbox,
    Effect.flatMap(Effect.all({ api: server, storage: server }), (servers) => SandboxHttp.serve(servers, options))
  ).pipe(Layer.provide(store), Layer.merge(NodeHttpClient.layerUndici))

const inMemory = (options?: SandboxOptions.Options) =>
  served(ObjectStoreMemory.layer({ minimumPartSize: 4 }), { minimumPartSize: 4, ...options })

const directory = Layer.unwrapScoped(Effect.map(
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()),
  (directory) => ObjectStoreDirectory.layer({ directory })
)).pipe(Layer.provide(NodeContext.layer))

const hello = Calls.bytesOf("hello")

// what no HTTP client would send, byte by byte
const raw = (url: string, head: (target: URL) => ReadonlyArray<string>, body: string, end: boolean) =>
  Effect.async<string, Error>((resume) => {
    const target = new URL(url)
    const socket = connect(Number(target.port), target.hostname)
    const seen: Array<Buffer> = []
    socket.on("data", (chunk) => seen.push(chunk))
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("close", () => resume(Effect.sync(() => Buffer.concat(seen).toString())))
    socket.write(`${head(target).join("\r\n")}\r\n\r\n${body}`)
    if (end) {
      socket.end()
    }
    return Effect.sync(() => socket.destroy())
  })

const outcomes = Effect.map(
  Sandbox.report,
  ({ requests }) => requests.map(({ operation, outcome }) => [operation, outcome])
)

const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  effect.pipe(
    Effect.filterOrFail(holds, () => "not yet" as const),
    Effect.retry({ times: 100, schedule: Schedule.spaced("20 millis") })
  )

describe("a sandbox over sockets", () => {
  it.scopedLive("stores single and multipart uploads, and serves them for download", () =>
    Effect.gen(function*() {
      const id = yield* Calls.uploaded("hello")
      const download = yield* Calls.api("GET", `/v1/files/${id}/download`)
      assert.strictEqual(yield* download.text, "hello")

      const large = yield* Calls.initiateLarge(10, 2)
      const parts = yield* Effect.forEach(large.urls, (url, index) =>
        Effect.map(Calls.putPart(url, hello), ({ headers }) => ({ part_number: index + 1, etag: headers["etag"] })))
      const body = { upload_id: large.uploadId, parts }
      const done = yield* Calls.json("POST", `/v2/files/${large.id}/large-upload/complete`, body)
      assert.strictEqual(done.status, 200)
      const range = yield* Calls.api("GET", `/v1/files/${large.id}/download`, undefined, {
        headers: { range: "bytes=3-6" }
      })
      assert.strictEqual(yield* range.text, "lohe")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(inMemory())))

  it.scopedLive("has different origins for API and storage, and issues upload URLs at the storage origin", () =>
    Effect.gen(function*() {
      const { apiOrigin, storageOrigin } = yield* Sandbox.Sandbox
      const { url } = yield* Calls.initiate(5)
      assert.strictEqual(new URL(url).origin, storageOrigin)
      assert.notStrictEqual(apiOrigin, storageOrigin)
      assert.strictEqual(new URL(apiOrigin).hostname, "127.0.0.1")
    }).pipe(Effect.provide(inMemory())))

  it.scopedLive("rejects a chunked body with 501 `NotImplemented`", () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(5)
      const { body, status } = yield* Calls.storage("PUT", url, {
        body: Calls.streamed([hello]),
        headers: Calls.ENCRYPTION
      })
      assert.deepStrictEqual([status, Calls.codeOf(body)], [501, "NotImplemented"])
    }).pipe(Effect.provide(inMemory())))

  it.scopedLive("rejects a PUT without Content-Length with 411 `MissingContentLength`", () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(5)
      const answer = yield* raw(
        url,
        (target) => [
          `PUT ${target.pathname}${target.search} HTTP/1.1`,
          `Host: ${target.host}`,
          "x-amz-server-side-encryption: aws:kms",
          "Connection: close"
        ],
        "",
        false
      )
      assert.match(answer, /^HTTP\/1.1 411 /)
      assert.strictEqual(Calls.codeOf(answer), "MissingContentLength")
    }).pipe(Effect.provide(inMemory())))

  it.scopedLive("stores nothing if the connection ends in the middle of a body, and accepts the next PUT", () =>
    Effect.gen(function*() {
      const { id, url } = yield* Calls.initiate(5)
      const head = (target: URL) => [
        `PUT ${target.pathname}${target.search} HTTP/1.1`,
        `Host: ${target.host}`,
        "x-amz-server-side-encryption: aws:kms",
        "Content-Length: 5"
      ]
      yield* Effect.exit(raw(url, head, "hel", true))
      yield* eventually(outcomes, (seen) => seen.at(-1)?.[1] !== "open")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Sandbox.stored(id))))
      assert.strictEqual((yield* Calls.put(url, hello)).status, 200)
    }).pipe(Effect.provide(inMemory())))

  it.scopedLive("responds 403 to a PUT of 64 MiB to a URL for one byte", () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(1)
      const size = 64 * 1024 * 1024
      const chunk = new Uint8Array(1024 * 1024)
      const { status } = yield* Calls.storage("PUT", url, {
        body: Calls.lazy(Stream.repeatValue(chunk).pipe(Stream.take(64)), size)
      })
      assert.strictEqual(status, 403)
    }).pipe(Effect.provide(inMemory())))

  it.scopedLive("breaks a PUT's connection before the bytes are stored (`reset`), or after (`loseAnswer`)", () =>
    Effect.gen(function*() {
      const { id, url } = yield* Calls.initiate(5)
      const reset = yield* Effect.flip(Calls.put(url, hello))
      assert.strictEqual(reset._tag, "RequestError")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Sandbox.stored(id))))
      const lost = yield* Effect.flip(Calls.put(url, hello))
      assert.strictEqual(lost._tag, "RequestError")
      assert.strictEqual(Calls.textOf(yield* Sandbox.stored(id)), "hello")
      assert.strictEqual((yield* Calls.put(url, hello)).status, 200)
      assert.deepStrictEqual(yield* outcomes, [
        ["initiate", "answered"],
        ["put", "broken"],
        ["put", "broken"],
        ["put", "answered"]
      ])
    }).pipe(Effect.provide(inMemory({
      faults: FaultScript.on("put").reset().and(FaultScript.on("put").loseAnswer())
    }))))

  it.scopedLive("breaks a download in the middle", () =>
    Effect.gen(function*() {
      const id = yield* Calls.uploaded("hello")
      const response = yield* Calls.api("GET", `/v1/files/${id}/download`)
      assert.strictEqual(response.status, 200)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(response.text)))
      const again = yield* Calls.api("GET", `/v1/files/${id}/download`)
      assert.strictEqual(yield* again.text, "hello")
    }).pipe(Effect.provide(inMemory({ faults: FaultScript.on("download").resetAfter(3) }))))

  it.scopedLive("reports a request as aborted when the client disconnects", () =>
    Effect.gen(function*() {
      const { url } = yield* Calls.initiate(5)
      const exit = yield* Calls.put(url, hello).pipe(Effect.timeout(Duration.millis(100)), Effect.exit)
      assert.isTrue(Exit.isFailure(exit))
      const seen = yield* eventually(outcomes, (requests) => requests.at(-1)?.[1] !== "open")
      assert.deepStrictEqual(seen.at(-1), ["put", "aborted"])
    }).pipe(Effect.provide(inMemory({ faults: FaultScript.on("put").stall("answer") }))))

  it.scopedLive.each(["connect", "body", "answer"] as const)(
    "ends with its scope during a stall (%s), whether the client waits or has gone away",
    (phase) =>
      Effect.gen(function*() {
        for (const waits of [true, false]) {
          const size = 8 * 1024 * 1024
          const stalled = Effect.gen(function*() {
            const { url } = yield* Calls.initiate(size)
            const put = yield* Effect.forkDaemon(Effect.exit(Calls.put(url, new Uint8Array(size))))
            yield* eventually(outcomes, (seen) => seen.length === 2)
            if (!waits) yield* Fiber.interrupt(put)
            return put
          })
          const put = yield* stalled.pipe(
            Effect.provide(inMemory({ faults: FaultScript.on("put").stall(phase) })),
            Effect.disconnect,
            Effect.timeout("10 seconds")
          )
          assert.isTrue(Exit.isSuccess(yield* Fiber.await(put)) === waits)
        }
      })
  )

  it.scopedLive("receives and serves 384 MiB with less than 192 MiB of additional memory", () =>
    Effect.gen(function*() {
      const mib = 1024 * 1024
      const size = 384 * mib
      const chunk = new Uint8Array(mib).fill(7)
      const { id, url } = yield* Calls.initiate(size)
      let peak = 0
      const before = process.memoryUsage().rss
      const watch = <E, R>(stream: Stream.Stream<Uint8Array, E, R>) =>
        Stream.map(stream, (piece) => {
          peak = Math.max(peak, process.memoryUsage().rss - before)
          return piece
        })
      const { status } = yield* Calls.storage("PUT", url, {
        body: Calls.lazy(watch(Stream.take(Stream.repeatValue(chunk), size / mib)), size),
        headers: Calls.ENCRYPTION
      })
      assert.strictEqual(status, 200)
      assert.strictEqual((yield* Calls.json("POST", `/v2/files/${id}/upload/complete`)).status, 200)
      const client = yield* HttpClient.HttpClient
      const { baseUrl, token } = yield* Sandbox.Sandbox
      const download = yield* client.execute(
        HttpClientRequest.get(`${baseUrl}/v1/files/${id}/download`).pipe(HttpClientRequest.bearerToken(token))
      )
      const received = yield* Stream.runFold(watch(download.stream), 0, (total, piece) => total + piece.byteLength)
      assert.strictEqual(received, size)
      // client and server are this one process
      assert.isBelow(peak, 192 * mib)
    }).pipe(Effect.provide(served(directory))))
})
