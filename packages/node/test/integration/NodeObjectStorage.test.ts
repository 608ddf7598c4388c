import { assert, describe, it } from "@effect/vitest"
import { ObjectStorage, Timeouts } from "@stevedore/core"
import { FileSource, NodeObjectStorage } from "@stevedore/node"
import { Chunk, Effect, Fiber, Option, Stream } from "effect"
import { createHash } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import * as Certificate from "../support/certificate.js"
import { put, url } from "../support/put.js"
import * as StorageServer from "../support/storageServer.js"
import * as TcpServer from "../support/tcpServer.js"
import * as Temporary from "../support/temporary.js"

const MiB = 1024 * 1024

const sourceOf = (bytes: Uint8Array) =>
  Effect.flatMap(Temporary.file("source.bin", bytes), (path) => FileSource.fromPath(path))

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** Stores over TLS and closes the connection with its response, in a thread that answers while this one is busy. */
const closingServer = Effect.acquireRelease(
  Effect.async<{ readonly worker: Worker; readonly origin: string }>((resume) => {
    const worker = new Worker(
      `
      const { parentPort, workerData } = require("node:worker_threads")
      const server = require("node:https").createServer(workerData, (request, response) => {
        request.resume().on("end", () => response.writeHead(200, { etag: "1", connection: "close" }).end())
      })
      server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port))
      `,
      { eval: true, workerData: { key: Certificate.key, cert: Certificate.cert } }
    )
    worker.once("message", (port) => resume(Effect.succeed({ worker, origin: `https://127.0.0.1:${port}` })))
  }),
  ({ worker }) => Effect.promise(() => worker.terminate())
)

const busyFor = (millis: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, millis)

const storing = (context: StorageServer.Context) => StorageServer.store(context)

describe("NodeObjectStorage", () => {
  it.scopedLive("sends the URL exactly as signed, including raw quotes and dot segments", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store)
      const target = "/bucket/../a/./it's!~*()/%2e%2e//x?X-Amz-Signature=ab%2fC'+d&bare&y={z}|^`"
      yield* put(`${server.origin}${target}#fragment`, { source: yield* sourceOf(Temporary.distinct(10)) })
      assert.strictEqual(server.requests[0]?.target, target)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("reads an early response even if storage resets the connection during the body", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response, socket }) => {
        response.writeHead(403, { connection: "close" })
          .end("<Error><Code>SignatureDoesNotMatch</Code></Error>", () => socket.destroy())
      })
      const source = yield* sourceOf(Temporary.distinct(16 * MiB))
      for (let turn = 0; turn < 40; turn++) {
        const error = yield* Effect.flip(put(`${server.origin}/early`, { source }))
        assert.strictEqual(error._tag, "SignatureMismatch403")
      }
      assert.strictEqual(server.connections().made, 40)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive.each([[200, "ConnectionFailed"], [503, "StorageUnavailable"]] as const)(
    "a response of status %d whose body breaks off is %s: a refusal stands, a receipt has to be whole",
    ([status, tag]) =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(async ({ drain, response, socket }) => {
          await drain()
          response.writeHead(status, { "content-length": 1000, etag: "\"one\"" })
            .write("<Error>", () => setTimeout(() => socket.destroy(), 10))
        })
        const error = yield* Effect.flip(
          put(`${server.origin}/broken`, { source: yield* sourceOf(Temporary.distinct(10)) })
        )
        assert.strictEqual(error._tag, tag)
      }).pipe(Effect.provide(NodeObjectStorage.layer()))
  )

  it.scopedLive("does not reuse an open connection after RequestTimeout or IncompleteBody", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(async ({ drain, received, response }) => {
        await drain()
        response.writeHead(400).end(`<Error><Code>${received.target.slice(1)}</Code></Error>`)
      })
      const source = yield* sourceOf(Temporary.distinct(10))
      const used: Array<number | undefined> = []
      for (const code of ["InvalidRequest", "RequestTimeout", "IncompleteBody", "InvalidRequest"]) {
        yield* Effect.flip(put(`${server.origin}/${code}`, { source }))
        used.push(server.requests.at(-1)?.connection)
      }
      assert.deepStrictEqual(used, [0, 0, 1, 2])
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("does not reuse idle connections after another connection has failed", () =>
    Effect.gen(function*() {
      let arrived = 0
      let answer = () => {}
      const allArrived = new Promise<void>((resolve) => answer = resolve)
      const server = yield* StorageServer.serve(async (context) => {
        if (context.received.target === "/reset") return void context.socket.resetAndDestroy()
        arrived += 1
        if (arrived === 3) answer()
        // none is answered before each has a connection
        await allArrived
        await StorageServer.store(context)
      })
      const source = yield* sourceOf(Temporary.distinct(10))
      const three = Array.from({ length: 3 }, () => put(`${server.origin}/x`, { source }))
      yield* Effect.all(three, { concurrency: "unbounded" })
      assert.strictEqual(server.connections().made, 3)
      const error = yield* Effect.flip(put(`${server.origin}/reset`, { source }))
      assert.strictEqual(error._tag, "ConnectionFailed")
      yield* put(`${server.origin}/x`, { source })
      assert.strictEqual(server.requests.at(-1)?.connection, 3)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("does not reuse a connection whose response comes after another connection has failed", () =>
    Effect.gen(function*() {
      let answerSlow = () => {}
      const server = yield* StorageServer.serve(async (context) => {
        const { received: { target }, socket } = context
        if (target === "/reset") return void socket.resetAndDestroy()
        if (target === "/slow") await new Promise<void>((resolve) => answerSlow = resolve)
        await StorageServer.store(context)
      })
      const source = yield* sourceOf(Temporary.distinct(10))
      const slow = yield* Effect.fork(put(`${server.origin}/slow`, { source }))
      while (server.requests.length < 1) yield* Effect.sleep("1 millis")
      yield* Effect.flip(put(`${server.origin}/reset`, { source }))
      answerSlow()
      yield* Fiber.join(slow)
      yield* put(`${server.origin}/x`, { source })
      assert.strictEqual(server.requests.at(-1)?.connection, 2)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("reports all sent bytes in pieces of at most 512 KiB, the first of at most 256 KiB", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store)
      const sent: Array<number> = []
      yield* put(`${server.origin}/x`, {
        source: yield* sourceOf(Temporary.distinct(3 * MiB + 1)),
        onSent: (bytes) => sent.push(bytes)
      })
      assert.strictEqual(sent.reduce((sum, bytes) => sum + bytes, 0), 3 * MiB + 1)
      assert.isAtMost(sent[0] ?? Infinity, 256 * 1024)
      assert.isAtMost(Math.max(...sent), 512 * 1024)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("closes idle connections when its layer is released", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store)
      const source = yield* sourceOf(Temporary.distinct(10))
      yield* Effect.provide(put(`${server.origin}/x`, { source }), NodeObjectStorage.layer())
      yield* Effect.sleep("20 millis")
      assert.deepStrictEqual(server.connections(), { made: 1, open: 0 })
    }))

  it.scopedLive("returns the bytes unchanged to a slow reader, and reuses the connection afterwards", () =>
    Effect.gen(function*() {
      const bytes = Temporary.distinct(20 * MiB + 3)
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "content-length": bytes.byteLength }).end(bytes)
      })
      const storage = yield* ObjectStorage.ObjectStorage
      for (let turn = 0; turn < 2; turn++) {
        const hash = createHash("sha256")
        yield* Effect.scoped(Effect.gen(function*() {
          const { pull = Effect.fail(Option.none()) } = yield* storage.get({
            url: url(`${server.origin}/x`),
            attempt: 1
          })
          const taking = Effect.tap(pull, (chunk) => {
            hash.update(chunk.subarray(0, chunk.byteLength / 2))
            return Effect.as(Effect.sleep("3 millis"), hash.update(chunk.subarray(chunk.byteLength / 2)))
          })
          const end = yield* Effect.flip(Effect.forever(taking))
          assert.isTrue(Option.isNone(end))
        }))
        assert.strictEqual(hash.digest("hex"), sha256(bytes))
      }
      assert.strictEqual(server.connections().made, 1)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("closes the connection when the scope ends before all bytes are read", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "content-length": 4096 * MiB }).write(Temporary.distinct(64 * MiB))
      })
      const storage = yield* ObjectStorage.ObjectStorage
      const some = storage.get({ url: url(`${server.origin}/x`), attempt: 1 }).pipe(
        Effect.flatMap(({ bytes }) => Stream.runCollect(Stream.take(bytes, 2))),
        Effect.scoped
      )
      assert.strictEqual(Chunk.size(yield* some), 2)
      const waiting = yield* Effect.fork(Effect.scoped(Effect.zipRight(
        storage.get({ url: url(`${server.origin}/x`), attempt: 1 }),
        Effect.never
      )))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(waiting)
      yield* Effect.sleep("20 millis")
      assert.strictEqual(server.connections().open, 0)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("refuses a range other than the requested without reading its bytes, and closes the connection", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(206, { "content-length": 4096 * MiB }).write(Temporary.distinct(64 * MiB))
      })
      const storage = yield* ObjectStorage.ObjectStorage
      const error = yield* storage.get({ url: url(`${server.origin}/x`), attempt: 1, range: { start: 5 } }).pipe(
        Effect.scoped,
        Effect.flip,
        Effect.timeout("2 seconds")
      )
      assert.deepInclude({ ...error }, { _tag: "StorageRejected", status: 206 })
      yield* Effect.sleep("20 millis")
      assert.strictEqual(server.connections().open, 0)
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  it.scopedLive("fails a download with ERR_SOCKET_CONNECTION_TIMEOUT if it gets no connection within Timeouts.connect", () =>
    Effect.gen(function*() {
      const port = yield* TcpServer.serve(() => undefined)
      const storage = yield* ObjectStorage.ObjectStorage
      const error = yield* storage.get({ url: url(`https://127.0.0.1:${port}/x`), attempt: 1 }).pipe(
        Effect.scoped,
        Effect.flip,
        Timeouts.with({ connect: "50 millis" }),
        Effect.timeout("2 seconds")
      )
      assert.deepInclude({ ...error }, { _tag: "ConnectionFailed", code: "ERR_SOCKET_CONNECTION_TIMEOUT" })
    }).pipe(Effect.provide(NodeObjectStorage.layer())))

  describe("over TLS", () => {
    it.scopedLive("trusts the configured certificates, and uploads and downloads over one connection", () =>
      Effect.gen(function*() {
        const bytes = Temporary.distinct(9 * MiB + 1)
        const server = yield* StorageServer.serve(
          (context) =>
            context.received.method === "PUT"
              ? storing(context)
              : void context.response.writeHead(200, { "content-length": bytes.byteLength }).end(bytes),
          { tls: Certificate }
        )
        const receipt = yield* put(`${server.origin}/x`, { source: yield* sourceOf(bytes) })
        assert.strictEqual(receipt.etag, `"${sha256(bytes)}"`)
        const storage = yield* ObjectStorage.ObjectStorage
        const got = yield* Effect.scoped(Effect.flatMap(
          storage.get({ url: url(`${server.origin}/x`), attempt: 1 }),
          (answer) => Stream.runCollect(answer.bytes)
        ))
        assert.strictEqual(sha256(Buffer.concat(Chunk.toReadonlyArray(got))), sha256(bytes))
        assert.strictEqual(server.connections().made, 1)
      }).pipe(Effect.provide(NodeObjectStorage.layer({ ca: Certificate.cert }))))

    it.scopedLive("rejects an untrusted certificate and does not send the request", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(StorageServer.store, { tls: Certificate })
        const error = yield* Effect.flip(put(`${server.origin}/x`, { source: yield* sourceOf(Temporary.distinct(9)) }))
        assert(error._tag === "ConnectionFailed")
        assert.deepStrictEqual([error.code, error.arrived], ["DEPTH_ZERO_SELF_SIGNED_CERT", "no"])
        assert.strictEqual(server.requests.length, 0)
      }).pipe(Effect.provide(NodeObjectStorage.layer())))

    it.scopedLive("accepts a response that arrives, with the end of the connection, before the last write is reported", () =>
      Effect.gen(function*() {
        const { origin } = yield* closingServer
        const storage = yield* ObjectStorage.ObjectStorage
        const content = async function*() {
          yield new Uint8Array([1])
          const written = sleep(20)
          setTimeout(() => busyFor(200), 20)
          await written
          yield new Uint8Array([2])
        }
        const receipt = yield* storage.put({
          url: url(`${origin}/x`),
          section: {
            range: { offset: 0, length: 2 },
            body: () => Effect.sync(() => ({ _tag: "NativeBody", content: content() }))
          },
          name: "two.bin",
          headers: {},
          clockOffset: 0,
          attempt: 1,
          onSent: () => undefined
        })
        assert.strictEqual(receipt.etag, "1")
      }).pipe(Effect.provide(NodeObjectStorage.layer({ ca: Certificate.cert }))))

    it.scopedLive("reads every early response", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(({ response, socket }) => {
          response.writeHead(403, { connection: "close" })
            .end("<Error><Code>SignatureDoesNotMatch</Code></Error>", () => socket.destroy())
        }, { tls: Certificate })
        const source = yield* sourceOf(Temporary.distinct(16 * MiB))
        for (let turn = 0; turn < 20; turn++) {
          const error = yield* Effect.flip(put(`${server.origin}/early`, { source }))
          assert.strictEqual(error._tag, "SignatureMismatch403")
        }
      }).pipe(Effect.provide(NodeObjectStorage.layer({ ca: Certificate.cert }))))
  })
})
