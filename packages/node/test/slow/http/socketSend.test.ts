import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy, ServiceApi, Timeouts } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Duration, Effect, Fiber, Redacted, TestClock } from "effect"
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib"
import * as ConnectionPool from "../../../src/http/connectionPool.js"
import * as SocketSend from "../../../src/http/socketSend.js"
import * as StorageServer from "../../support/storageServer.js"
import * as TcpServer from "../../support/tcpServer.js"

const limits = { connect: Duration.seconds(5), deadline: Duration.seconds(5), longest: 1000 }

const sending = Effect.map(ConnectionPool.make(), SocketSend.make)

const waitUntil = (isTrue: () => boolean) =>
  Effect.gen(function*() {
    for (let look = 0; look < 400 && !isTrue(); look++) {
      yield* Effect.promise(() => new Promise((go) => setTimeout(go, 5)))
    }
    assert.isTrue(isTrue())
  })

/** Says these words on each connection once it is asked for something. */
const saying = (words: string) =>
  TcpServer.serve((socket) => void socket.on("error", () => undefined).once("data", () => socket.write(words)))

describe("a request that is sent as a whole", () => {
  it.scopedLive("has the whole answer, and leaves its connection to the next", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(async ({ drain, received, response }) => {
        await drain()
        response.writeHead(201, { "X-Method": received.method }).write("a".repeat(400))
        setTimeout(() => response.end("b".repeat(600)), 5)
      })
      const send = yield* sending
      for (const bytes of [0, 1, 100_000]) {
        const request = HttpClientRequest.bodyUint8Array(HttpClientRequest.put(server.origin), new Uint8Array(bytes))
        const { body, headers, status } = yield* send(request, limits)
        assert.deepStrictEqual([status, headers["x-method"], body.byteLength], [201, "PUT", 1000])
        assert.strictEqual(server.requests.at(-1)?.bytes, bytes)
      }
      assert.deepStrictEqual(server.connections(), { made: 1, open: 1 })
    }))

  it.scopedLive.each<readonly [coding: string, bytes: Uint8Array, expected: string | undefined, left: string]>([
    ["br", brotliCompressSync("said"), "said", ""],
    [" BR ", brotliCompressSync("said"), "said", ""],
    ["gzip, br", brotliCompressSync(gzipSync("said")), undefined, "gzip"],
    ["br", brotliCompressSync("said".repeat(1000)), undefined, "br"],
    ["br", Buffer.from("said"), "said", "br"]
  ])(
    "has its answer without the content coding %s, if it comes out of it",
    ([coding, bytes, expected, left]) =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(({ response }) =>
          void response.writeHead(200, { "content-encoding": coding }).end(bytes)
        )
        const { body, headers } = yield* (yield* sending)(HttpClientRequest.get(server.origin), limits)
        assert.strictEqual(headers["content-encoding"], left)
        const inflated = left === "gzip" ? gunzipSync(body).toString() : Buffer.from(body).toString()
        if (left === "gzip") assert.strictEqual(inflated, "said")
        else if (expected !== undefined) assert.strictEqual(inflated, expected)
        else assert.deepStrictEqual(new Uint8Array(body), new Uint8Array(bytes))
      })
  )

  it.scopedLive("has the start of an answer that is too long, whose connection is closed", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => void response.writeHead(200).write("a".repeat(5000)))
      const send = yield* sending
      const { body } = yield* send(HttpClientRequest.get(server.origin), limits)
      assert.isAbove(body.byteLength, 1000)
      yield* waitUntil(() => server.connections().open === 0)
    }))

  it.scopedLive.each<readonly [string, string, number | undefined, number]>([
    ["before the head of its answer", "", undefined, 100],
    ["in its head", "HTTP/1.1 200 OK\r\nx-a: ", undefined, 100],
    ["in its body", "HTTP/1.1 207 Multi\r\nx-a: 1\r\ncontent-length: 10\r\n\r\n12345", 207, 3000]
  ])("is late %s", ([_, words, status, millis]) =>
    Effect.gen(function*() {
      const port = yield* saying(words)
      const send = yield* sending
      const request = HttpClientRequest.get(`http://127.0.0.1:${port}`)
      const { head, late } = yield* Effect.flip(send(request, { ...limits, deadline: Duration.millis(millis) }))
      assert.deepStrictEqual([late, head?.status], [true, status])
    }))

  it.scopedLive("whose answer breaks off is not late, and says how far it came", () =>
    Effect.gen(function*() {
      const port = yield* TcpServer.serve((socket) =>
        void socket.on("error", () => undefined).once("data", () =>
          socket.end("HTTP/1.1 200 OK\r\nx-ratelimit-remaining: 0\r\ncontent-length: 10\r\n\r\n1"))
      )
      const send = yield* sending
      const { head, late } = yield* Effect.flip(send(HttpClientRequest.get(`http://127.0.0.1:${port}`), limits))
      assert.deepStrictEqual([late, head?.headers["x-ratelimit-remaining"]], [false, "0"])
    }))

  it.scopedLive("that cannot be written is not sent, and one that is interrupted has its connection closed", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(() => undefined)
      const send = yield* sending
      const split = HttpClientRequest.setHeader(HttpClientRequest.get(server.origin), "x-a", "1\r\nx-b: 2")
      assert.isFalse((yield* Effect.flip(send(split, limits))).late)
      assert.strictEqual(server.requests.length, 0)
      const fiber = yield* Effect.fork(send(HttpClientRequest.get(server.origin), limits))
      yield* waitUntil(() => server.requests.length === 1)
      yield* Fiber.interrupt(fiber)
      yield* waitUntil(() => server.connections().open === 0)
    }))

  it.scoped("has its time by Effect's clock", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(() => undefined)
      const node = NodeStevedore.layer({ ledger: false, baseUrl: server.origin, token: Redacted.make("api.a") })
      const call = Effect.flatMap(ServiceApi.ServiceApi, (service) => service.file("f")).pipe(
        Timeouts.with({ call: "1 hour", total: "2 hours" }),
        Effect.provide(RetryPolicy.none)
      )
      const fiber = yield* Effect.fork(Effect.provide(Effect.flip(call), node))
      yield* waitUntil(() => server.requests.length === 1)
      yield* TestClock.adjust("59 minutes")
      assert.isTrue((yield* Fiber.poll(fiber))._tag === "None")
      yield* TestClock.adjust("2 minutes")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "TimedOut", phase: "call", attempts: 1 })
    }))
})
