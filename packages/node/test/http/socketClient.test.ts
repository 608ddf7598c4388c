import { HttpBody, HttpClient, type HttpClientError, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Timeouts } from "@stevedore/core"
import { Cause, Effect, Exit, FastCheck as fc, Fiber, Option, Stream } from "effect"
import { createServer, type Socket } from "node:net"
import { settableWallClock } from "../../../core/test/fixtures/wallClock.js"
import * as ConnectionPool from "../../src/http/connectionPool.js"
import * as SocketClient from "../../src/http/socketClient.js"
import { clientFailure } from "../support/clientFailure.js"
import { all, asked, codeOf, get, own, pullOf } from "../support/internal/socketClient.js"
import * as StorageServer from "../support/storageServer.js"
import * as TcpServer from "../support/tcpServer.js"

// the other side hears of an end in its own time
const untilOpen = (server: StorageServer.StorageServer, count: number) =>
  Effect.gen(function*() {
    for (let look = 0; look < 400 && server.connections().open !== count; look++) yield* Effect.sleep("5 millis")
    assert.strictEqual(server.connections().open, count)
  })

const clients = { "Node's own sockets": own(), undici: NodeHttpClient.layerUndici }

/** Listens and never says a word. */
const silent = Effect.acquireRelease(
  Effect.async<{ readonly port: number; readonly close: Effect.Effect<void> }>((resume) => {
    const server = createServer((socket) => socket.on("error", () => undefined).resume())
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: Effect.sync(() => server.close()) }))
    })
  }),
  ({ close }) => close
)

for (const [name, client] of Object.entries(clients)) {
  layer(client, { excludeTestServices: true })(`a call over ${name}`, (it) => {
    it.scoped("sends the request's method, target, headers and body, and adds only the headers HTTP needs", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(StorageServer.store)
        yield* asked(
          HttpClientRequest.post(`${server.origin}/v1/files?page%5Blimit%5D=1`).pipe(
            HttpClientRequest.setHeader("authorization", "Bearer a"),
            HttpClientRequest.bodyUnsafeJson({ name: "é" })
          )
        )
        yield* asked(HttpClientRequest.del(`${server.origin}/v1`))
        yield* asked(HttpClientRequest.post(`${server.origin}/empty`))
        const [post, del, empty] = server.requests
        assert.deepInclude(post, { method: "POST", target: "/v1/files?page%5Blimit%5D=1", bytes: 13 })
        assert.deepStrictEqual(Object.keys(post?.headers ?? {}).sort(), [
          "authorization",
          "connection",
          "content-length",
          "content-type",
          "host"
        ])
        assert.deepInclude(del, { method: "DELETE", target: "/v1", bytes: 0 })
        assert.strictEqual(empty?.headers["content-length"], "0")
        assert.isUndefined(empty?.headers["content-type"])
      }))

    it.scoped("reads the response's cookies, and its body as JSON, text, URL parameters or bytes", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(({ received, response }) => {
          const [type, body] = received.target === "/form"
            ? ["application/x-www-form-urlencoded", "a=1&b=%20"]
            : ["application/json", "\ufeff{\"a\":\"é\"}"]
          response.setHeader("set-cookie", ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=2"])
          response.writeHead(201, { "content-type": type }).end(body)
        })
        const json = yield* get(server.origin)
        assert.strictEqual(json.status, 201)
        assert.strictEqual(json.headers["content-type"], "application/json")
        assert.deepStrictEqual(Object.keys(json.cookies.cookies), ["a", "b"])
        assert.deepStrictEqual(yield* json.json, { a: "é" })
        assert.strictEqual(yield* json.text, "{\"a\":\"é\"}")
        const form = yield* get(`${server.origin}/form`)
        assert.deepStrictEqual([...(yield* form.urlParamsBody)], [["a", "1"], ["b", " "]])
        const text = yield* get(`${server.origin}/form`)
        assert.strictEqual((yield* text.arrayBuffer).byteLength, 9)
        const asJson = yield* Effect.flip((yield* get(`${server.origin}/form`)).json)
        assert.strictEqual(clientFailure(asJson).kind, "Decode")
      }))

    it.scoped("returns a redirect without following it, and a 204 and the response to a HEAD without a body", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(({ received, response }) => {
          if (received.method === "HEAD") response.writeHead(200, { "content-length": 10 }).end()
          else if (received.target === "/empty") response.writeHead(204).end()
          else response.writeHead(302, { location: "http://127.0.0.1:1/elsewhere" }).end("moved")
        })
        const head = yield* asked(HttpClientRequest.head(server.origin))
        assert.deepStrictEqual([head.headers["content-length"], yield* head.text], ["10", ""])
        const empty = yield* get(`${server.origin}/empty`)
        assert.deepStrictEqual([empty.status, yield* empty.text], [204, ""])
        const redirect = yield* get(server.origin)
        assert.deepStrictEqual([redirect.status, redirect.headers["location"]], [302, "http://127.0.0.1:1/elsewhere"])
        assert.lengthOf(server.requests, 3)
      }))

    it.scoped("closes its connection when it is interrupted before the response", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(() => undefined)
        const waiting = yield* Effect.fork(Effect.scoped(get(server.origin)))
        yield* untilOpen(server, 1)
        yield* Fiber.interrupt(waiting)
        yield* untilOpen(server, 0)
      }))

    it.scoped("fails as a transport if it cannot connect, and as a response if the body breaks off", () =>
      Effect.gen(function*() {
        const closed = yield* Effect.scoped(silent)
        const refused = clientFailure(yield* Effect.flip(get(`http://127.0.0.1:${closed.port}/`)))
        assert.deepStrictEqual([refused.kind, codeOf(refused.cause)], ["Transport", "ECONNREFUSED"])
        const server = yield* StorageServer.serve(({ response, socket }) => {
          response.writeHead(200, { "content-length": "1000" })
          response.write(Buffer.alloc(10), () => setTimeout(() => socket.destroy(), 20))
        })
        const read: ReadonlyArray<
          (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, HttpClientError.HttpClientError>
        > = [
          ({ text }) => text,
          ({ arrayBuffer }) => arrayBuffer,
          ({ stream }) => Stream.runDrain(stream)
        ]
        for (const body of read) {
          const broken = yield* Effect.flip(Effect.flatMap(get(server.origin), body))
          assert.strictEqual(clientFailure(broken).kind, "Decode")
        }
      }))
  })
}

describe("the client over Node's own sockets", () => {
  it.scopedLive("gives every byte of the body in order, however it is chunked, and none after the last", () =>
    Effect.gen(function*() {
      const sizes = fc.sample(fc.array(fc.integer({ min: 1, max: 900_000 }), { minLength: 1, maxLength: 8 }), 10)
      for (const pieces of sizes) {
        const sent = pieces.map((size, index) => Buffer.alloc(size, index + 1))
        const server = yield* StorageServer.serve(({ response }) => {
          for (const piece of sent) response.write(piece)
          response.end()
        })
        const pull = yield* Effect.flatMap(get(server.origin), pullOf)
        const { bytes, end } = yield* all(pull)
        assert.isTrue(bytes.equals(Buffer.concat(sent)))
        assert.deepStrictEqual(end, Option.none())
        assert.deepStrictEqual(yield* Effect.flip(pull), Option.none())
        const streamed = yield* Effect.flatMap(get(server.origin), ({ stream }) => Stream.runCollect(stream))
        assert.isTrue(Buffer.concat([...streamed]).equals(bytes))
      }
    }).pipe(Effect.provide(own())))

  it.scopedLive("reads a URL-encoded body as form data", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "content-type": "application/x-www-form-urlencoded" }).end("a=1&b=%20")
      })
      assert.strictEqual((yield* (yield* get(server.origin)).formData).get("b"), " ")
    }).pipe(Effect.provide(own())))

  it.scopedLive("reuses a connection after its response is read, and closes it if the response is not read", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => void response.end(Buffer.alloc(4_000_000)))
      const read = Effect.scoped(Effect.flatMap(get(server.origin), ({ arrayBuffer }) => arrayBuffer))
      for (let turn = 0; turn < 3; turn++) assert.strictEqual((yield* read).byteLength, 4_000_000)
      assert.deepStrictEqual(server.connections(), { made: 1, open: 1 })
      yield* Effect.scoped(get(server.origin))
      yield* untilOpen(server, 0)
      assert.strictEqual(server.connections().made, 1)
    }).pipe(Effect.provide(own())))

  it.scopedLive("does not reuse a connection that was idle while the computer slept", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ received, response }) => {
        // whatever was between the two has forgotten the first connection
        if (server.requests.length === 1 || received.connection > 0) response.end("a")
      })
      const clock = yield* settableWallClock
      const client = SocketClient.make(yield* clock.within(ConnectionPool.make()))
      const read = get(server.origin).pipe(
        Effect.flatMap(({ text }) => text),
        Effect.scoped,
        Effect.provideService(HttpClient.HttpClient, client),
        Effect.timeout("2 seconds")
      )
      assert.strictEqual(yield* read, "a")
      clock.set("8 hours", "ahead")
      assert.strictEqual(yield* read, "a")
      clock.set("8 hours", "back")
      assert.strictEqual(yield* read, "a")
      assert.deepStrictEqual(server.connections(), { made: 2, open: 1 })
    }))

  it.scopedLive("does not reuse a connection that was idle for longer than the server said, whatever timers do", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "keep-alive": "timeout=3" }).end("a")
      })
      const clock = yield* settableWallClock
      const client = SocketClient.make(yield* clock.within(ConnectionPool.make()))
      const made = get(server.origin).pipe(
        Effect.flatMap(({ text }) => text),
        Effect.scoped,
        Effect.provideService(HttpClient.HttpClient, client),
        Effect.map(() => server.connections().made)
      )
      assert.strictEqual(yield* made, 1)
      clock.set("1500 millis", "ahead")
      assert.strictEqual(yield* made, 1)
      clock.set("4 seconds", "ahead")
      assert.strictEqual(yield* made, 2)
    }))

  it.scopedLive("does not reuse a connection on which the server said something unasked", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response, socket }) => {
        response.end("x")
        setTimeout(() => socket.write("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), 20)
      })
      const text = Effect.scoped(Effect.flatMap(get(server.origin), (response) => response.text))
      assert.strictEqual(yield* text, "x")
      yield* untilOpen(server, 0)
      assert.strictEqual(yield* text, "x")
      assert.strictEqual(server.connections().made, 2)
    }).pipe(Effect.provide(own())))

  it.scopedLive("does not take what arrived before its request for its response", () =>
    Effect.gen(function*() {
      const second = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nanother"
      const sockets: Array<Socket> = []
      const server = yield* StorageServer.serve(({ response }) => void response.end("x"), {
        onConnection: (socket) => void sockets.push(socket)
      })
      const text = Effect.scoped(Effect.flatMap(get(server.origin), (response) => response.text))
      for (let turn = 0; turn < 5; turn++) {
        assert.strictEqual(yield* text, "x")
        sockets.at(-1)?.write(second)
      }
      assert.strictEqual(server.connections().made, 5)
    }).pipe(Effect.provide(own())))

  it.scopedLive("keeps the process alive while it waits for a response on a reused connection, and only then", () =>
    Effect.gen(function*() {
      const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
      let waiting = 0
      const server = yield* StorageServer.serve(({ response }) => {
        waiting = sockets()
        response.end("x")
      }, { onConnection: (socket) => void socket.unref() })
      const text = Effect.scoped(Effect.flatMap(get(server.origin), ({ text }) => text))
      yield* text
      for (let turn = 0; turn < 3; turn++) {
        yield* text
        assert.strictEqual(waiting - sockets(), 1)
      }
      assert.strictEqual(server.connections().made, 1)
    }).pipe(Effect.provide(own())))

  it.scopedLive("closes an idle connection in time, even if no other request follows", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "keep-alive": "timeout=1" }).end("x")
      })
      yield* Effect.scoped(Effect.flatMap(get(server.origin), ({ text }) => text))
      yield* untilOpen(server, 0)
    }).pipe(Effect.provide(own())))

  it.scopedLive("loses no bytes when a pull is interrupted while it waits", () =>
    Effect.gen(function*() {
      let answer = () => {}
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200).flushHeaders()
        answer = () => void response.end("late")
      })
      const pull = yield* Effect.flatMap(get(server.origin), pullOf)
      const exits = yield* Effect.replicateEffect(Effect.exit(Effect.timeout(pull, "5 millis")), 10)
      assert.isTrue(exits.every(Exit.isFailure))
      answer()
      assert.strictEqual((yield* all(pull)).bytes.toString(), "late")
    }).pipe(Effect.provide(own())))

  it.scopedLive("reads a response that arrives before the request body is fully sent", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response, socket }) => {
        response.writeHead(413, { connection: "close" }).end("too much", () => socket.destroy())
      })
      const request = HttpClientRequest.post(server.origin).pipe(
        HttpClientRequest.bodyUint8Array(new Uint8Array(16 * 2 ** 20))
      )
      for (let turn = 0; turn < 10; turn++) {
        assert.strictEqual((yield* asked(request)).status, 413)
      }
    }).pipe(Effect.provide(own())))

  it.scopedLive("does not reuse a connection on which the rest of a request body still waits", () =>
    Effect.gen(function*() {
      const port = yield* TcpServer.serve((socket) => {
        socket.on("error", () => undefined).once("data", () => {
          // it reads no further
          socket.pause().write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        })
      })
      const large = HttpClientRequest.post(`http://127.0.0.1:${port}`).pipe(
        HttpClientRequest.bodyUint8Array(new Uint8Array(16 * 2 ** 20))
      )
      for (let turn = 0; turn < 3; turn++) {
        const response = Effect.scoped(Effect.flatMap(asked(large), ({ text }) => text))
        assert.strictEqual(yield* Effect.timeout(response, "5 seconds"), "x")
      }
    }).pipe(Effect.provide(own())))

  it.scopedLive("does not give bytes of a response to a reader of the previous response on the connection", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ received, response }) => void response.end(received.target))
      const first = yield* Effect.scoped(Effect.tap(get(`${server.origin}/first`), ({ text }) => text))
      const second = yield* get(`${server.origin}/second`)
      assert.strictEqual(server.connections().made, 1)
      const { end } = yield* all(yield* pullOf(first))
      assert.strictEqual(clientFailure(Option.getOrThrow(end)).kind, "Decode")
      assert.strictEqual(yield* first.text, "/first")
      assert.strictEqual(yield* second.text, "/second")
    }).pipe(Effect.provide(own())))

  it.scopedLive("fails with a connection timeout if the TLS handshake exceeds the `connect` timeout", () =>
    Effect.gen(function*() {
      const { port } = yield* silent
      const error = yield* Effect.flip(get(`https://127.0.0.1:${port}/`)).pipe(Timeouts.with({ connect: "50 millis" }))
      assert.strictEqual(codeOf(error.cause), "ERR_SOCKET_CONNECTION_TIMEOUT")
    }).pipe(Effect.provide(own())))

  it.scopedLive("knows that a request did not arrive if the server ends the TLS handshake or does not speak TLS", () =>
    Effect.gen(function*() {
      const handshakeFailure = Buffer.from([21, 3, 3, 0, 2, 2, 40])
      for (const answer of [handshakeFailure, Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"), Buffer.alloc(0)]) {
        const port = yield* TcpServer.serve((socket) => {
          socket.on("error", () => undefined).once("data", () => socket.end(answer))
        })
        const error = yield* Effect.flip(get(`https://127.0.0.1:${port}/`))
        assert.deepInclude(error.cause, { arrived: "no" })
      }
    }).pipe(Effect.provide(own())))

  it.scopedLive("rejects a streamed body and a header with a line break before it sends a request", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store)
      const body = HttpBody.stream(Stream.make(new Uint8Array(1)))
      const streamed = yield* Effect.flip(asked(HttpClientRequest.post(server.origin, { body })))
      const injected = HttpClientRequest.get(server.origin, { headers: { a: "1\r\nb: 2" } })
      assert.strictEqual(clientFailure(streamed).kind, "Encode")
      assert.strictEqual(clientFailure(yield* Effect.flip(asked(injected))).kind, "Encode")
      assert.lengthOf(server.requests, 0)
    }).pipe(Effect.provide(own())))

  it.scopedLive("prints a response without its body and without the token", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(200, { "content-type": "application/json" }).end("{\"url\":\"X-Amz-Signature=abc\"}")
      })
      const response = yield* asked(HttpClientRequest.bearerToken(HttpClientRequest.get(server.origin), "api.secret"))
      yield* response.text
      const printed = JSON.stringify(response) + String(response) + Cause.pretty(Cause.fail(response))
      assert.notMatch(printed, /Signature|api\.secret/)
      assert.include(printed, "\"status\":200")
    }).pipe(Effect.provide(own())))

  it("has no pull for a response of another client", () => {
    const answer = HttpClientResponse.fromWeb(HttpClientRequest.get("http://127.0.0.1/"), new Response("text"))
    assert.isUndefined(SocketClient.pull(answer))
  })
})
