import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import type { SourceError, StorageError } from "@stevedore/core"
import { ObjectStorage } from "@stevedore/core"
import { FileSource, NodeObjectStorage, NodeStevedore } from "@stevedore/node"
import { Effect, Redacted, Stream } from "effect"
import { connect, type Socket } from "node:net"
import { tunnels } from "../../../testing/test/support/tunnels.js"
import * as Certificate from "../support/certificate.js"
import { put, url } from "../support/put.js"
import * as StorageServer from "../support/storageServer.js"
import * as TcpServer from "../support/tcpServer.js"
import * as Temporary from "../support/temporary.js"

const MiB = 1024 * 1024

const sourceOf = (bytes: Uint8Array) =>
  Effect.flatMap(Temporary.file("source.bin", bytes), (path) => FileSource.fromPath(path))

const authorization = "Basic YW5uYTp3b3Jk"

const through = (port: number, ca?: string) =>
  NodeObjectStorage.layer({
    ca,
    proxy: { origin: `http://127.0.0.1:${port}`, authorization: Redacted.make(authorization) }
  })

const read = (href: string) =>
  Effect.scoped(Effect.gen(function*() {
    const storage = yield* ObjectStorage.ObjectStorage
    const answer = yield* storage.get({ url: url(href), attempt: 1 })
    return Buffer.concat([...yield* Stream.runCollect(answer.bytes)])
  }))

/** A proxy as some come: it makes no tunnel to storage that is not encrypted, and takes the requests themselves. */
const forwarding = (storage: URL, refusal: string | undefined) => tunnels(() => refusal, () => storage)

/**
 * A proxy that loses what comes from storage once it has taken more than so many bytes of a connection. It forwards to
 * hosts that are named so, and makes tunnels to others. Gives its port.
 */
const losing = (storage: URL, losses: { readonly above: number }) =>
  TcpServer.serve((socket) => {
    socket.on("error", () => undefined)
    socket.once("data", (head: Buffer) => {
      const isTunnel = head.includes("CONNECT ")
      if (isTunnel && head.includes("forwarded.test")) return void socket.end("HTTP/1.1 405 No\r\n\r\n")
      const there = connect(Number(storage.port), storage.hostname)
      // the head of a request is not part of its body
      let taken = -4096
      there.on("data", (bytes) => {
        if (taken <= losses.above) socket.write(bytes)
      })
      there.on("error", () => undefined).on("close", () => socket.end())
      socket.on("data", (bytes) => {
        taken += bytes.byteLength
        if (!there.destroyed && !there.write(bytes)) {
          socket.pause()
          there.once("drain", () => socket.resume())
        }
      })
      if (isTunnel) socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      else there.write(head)
    })
  })

describe("storage behind a proxy", () => {
  it.scopedLive("stores and reads over TLS through a tunnel, on connections that are used again", () =>
    Effect.gen(function*() {
      const bytes = Temporary.distinct(5 * MiB)
      const server = yield* StorageServer.serve((context) => {
        if (context.received.method === "PUT") return StorageServer.store(context)
        return void context.response.writeHead(200, { "content-length": bytes.byteLength }).end(bytes)
      }, { tls: Certificate.elsewhere })
      const proxy = yield* tunnels(() => new URL(server.origin))
      yield* Effect.gen(function*() {
        const source = yield* sourceOf(bytes)
        for (let turn = 0; turn < 3; turn++) {
          yield* put("https://storage.test/key", { source })
          assert.isTrue(Buffer.from(bytes).equals(yield* read("https://storage.test/key")))
        }
      }).pipe(Effect.provide(through(proxy.port, Certificate.elsewhere.cert)))
      assert.deepStrictEqual(proxy.asked, [{ target: "storage.test:443", authorization }])
      assert.strictEqual(server.requests[0]?.bytes, bytes.byteLength)
      assert.isUndefined(server.requests[0]?.headers["proxy-authorization"])
    }))

  const target = "/bucket/./a/../it's!/%2e%2e//x?X-Amz-Signature=ab%2fC'+d&y={z}|^`"

  it.scopedLive("sends the URL exactly as signed through a tunnel", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store)
      const proxy = yield* tunnels(() => new URL(server.origin))
      const source = yield* sourceOf(Temporary.distinct(10))
      yield* Effect.provide(put(`http://storage.test${target}`, { source }), through(proxy.port))
      assert.deepStrictEqual(server.requests.map((one) => one.target), [target])
      assert.deepStrictEqual(proxy.asked, [{ target: "storage.test:80", authorization }])
    }))

  it.scopedLive.each(["403 Forbidden", "405 Method Not Allowed", "501 Not Implemented", undefined])(
    "sends requests with their whole URL, exactly as signed, if a tunnel is refused: %s",
    (refusal) =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(StorageServer.store)
        const proxy = yield* forwarding(new URL(server.origin), refusal)
        const source = yield* sourceOf(Temporary.distinct(10))
        yield* Effect.gen(function*() {
          yield* put(`http://storage.test:8080${target}`, { source })
          yield* put("http://storage.test:8080/again", { source })
        }).pipe(Effect.provide(through(proxy.port)))
        assert.deepStrictEqual(server.requests.map((one) => one.target), [target, "/again"])
        assert.strictEqual(server.requests[0]?.headers.host, "storage.test:8080")
        assert.deepStrictEqual(proxy.asked, [
          { target: "storage.test:8080", authorization },
          { target: `http://storage.test:8080${target}`, authorization },
          { target: "http://storage.test:8080/again", authorization }
        ])
      })
  )

  it.scopedLive("reads a refusal that arrives while the body is being sent", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.writeHead(413).end("<Error><Code>EntityTooLarge</Code></Error>")
      }, { tls: Certificate.elsewhere })
      const proxy = yield* tunnels(() => new URL(server.origin))
      yield* Effect.gen(function*() {
        const source = yield* sourceOf(Temporary.distinct(16 * MiB))
        const error = yield* Effect.flip(put("https://storage.test/early", { source }))
        assert.strictEqual(error._tag === "StorageRejected" ? error.code : error._tag, "EntityTooLarge")
      }).pipe(Effect.provide(through(proxy.port, Certificate.elsewhere.cert)))
      assert.lengthOf(server.requests, 1)
    }))

  const tooLarge = "<Error><Code>EntityTooLarge</Code></Error>"

  const codeOf = (error: StorageError.StorageError | SourceError.SourceError) =>
    error._tag === "StorageRejected" || error._tag === "ConnectionFailed" ? error.code : error._tag

  const refuse = ({ response, socket }: StorageServer.Context) => {
    response.writeHead(413, { connection: "close" }).end(tooLarge)
    setTimeout(() => socket.destroy(), 5)
  }

  const refuseOnceBytesCame = (context: StorageServer.Context) =>
    void context.request.once("data", () => {
      context.request.pause()
      refuse(context)
    })

  it.scopedLive.each<readonly [way: string, origin: string, tls: typeof Certificate.elsewhere | undefined]>([
    ["a tunnel", "http://storage.test:8080", undefined],
    ["a tunnel with TLS", "https://storage.test", Certificate.elsewhere],
    ["a proxy that forwards", "http://forwarded.test:8080", undefined]
  ])(
    "no byte is sent through %s of a body that storage refuses when it is announced",
    ([_, origin, tls]) =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(refuse, { onExpect: true, ...(tls && { tls }) })
        const proxy = yield* losing(new URL(server.origin), { above: 0 })
        const source = yield* sourceOf(Temporary.distinct(16 * MiB))
        let sent = 0
        const error = yield* Effect.flip(put(`${origin}/early`, { source, onSent: (bytes) => sent += bytes })).pipe(
          Effect.provide(through(proxy, tls?.cert))
        )
        assert.deepStrictEqual([codeOf(error), server.requests.length, sent], ["EntityTooLarge", 1, 0])
      })
  )

  it.scopedLive("a refusal of the first bytes is read, though the proxy loses it once more of them are on their way", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(refuseOnceBytesCame)
      const proxy = yield* losing(new URL(server.origin), { above: 2 * MiB })
      const source = yield* sourceOf(Temporary.distinct(32 * MiB))
      const error = yield* Effect.flip(put("http://storage.test/early", { source })).pipe(
        Effect.provide(through(proxy))
      )
      assert.deepStrictEqual([codeOf(error), server.requests.length], ["EntityTooLarge", 1])
    }))

  it.scopedLive("after a refusal that the proxy lost, the next one is read", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve((context) =>
        context.received.target === "/stored" ? StorageServer.store(context) : refuseOnceBytesCame(context)
      )
      const losses = { above: Infinity }
      const proxy = yield* losing(new URL(server.origin), losses)
      const source = yield* sourceOf(Temporary.distinct(32 * MiB))
      yield* Effect.gen(function*() {
        yield* put("http://storage.test/stored", { source })
        losses.above = 2 * MiB
        const lost = yield* Effect.flip(put("http://storage.test/", { source }))
        const told = yield* Effect.flip(put("http://storage.test/", { source }))
        assert.deepStrictEqual([codeOf(lost), codeOf(told)], ["ECONNRESET", "EntityTooLarge"])
      }).pipe(Effect.provide(through(proxy)))
    }))

  const expected = ({ headers }: StorageServer.Received) => headers.expect

  it.scopedLive("only long bodies are announced, and only through a proxy", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store)
      const proxy = yield* tunnels(() => new URL(server.origin))
      const long = yield* sourceOf(Temporary.distinct(MiB + 1))
      const short = yield* sourceOf(Temporary.distinct(MiB))
      yield* Effect.gen(function*() {
        yield* put("http://storage.test/", { source: long })
        yield* put("http://storage.test/", { source: short })
        yield* put(server.origin, { source: long })
      }).pipe(Effect.provide(through(proxy.port)))
      assert.deepStrictEqual(server.requests.map(expected), ["100-continue", undefined, undefined])
      assert.deepStrictEqual(server.requests.map(({ bytes }) => bytes), [MiB + 1, MiB, MiB + 1])
    }))

  it.scopedLive("storage that wants nothing announced gets the body at once, also the next time", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(
        (context) =>
          context.request.headers.expect === undefined
            ? StorageServer.store(context)
            : void context.response.writeHead(417).end(),
        { onExpect: true }
      )
      const proxy = yield* tunnels(() => new URL(server.origin))
      const source = yield* sourceOf(Temporary.distinct(2 * MiB))
      yield* Effect.gen(function*() {
        yield* put("http://storage.test/", { source })
        yield* put("http://storage.test/", { source })
      }).pipe(Effect.provide(through(proxy.port)))
      assert.deepStrictEqual(server.requests.map(expected), ["100-continue", undefined, undefined])
      assert.deepStrictEqual(server.requests.map(({ bytes }) => bytes), [0, 2 * MiB, 2 * MiB])
    }))

  it.scopedLive("storage that says nothing to an announcement gets the body all the same, and no other announcement", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store, { onExpect: true })
      const proxy = yield* tunnels(() => new URL(server.origin))
      const source = yield* sourceOf(Temporary.distinct(2 * MiB))
      yield* Effect.gen(function*() {
        yield* put("http://storage.test/", { source })
        yield* put("http://storage.test/", { source })
      }).pipe(Effect.provide(through(proxy.port)))
      assert.deepStrictEqual(server.requests.map(expected), ["100-continue", undefined])
      assert.deepStrictEqual(server.requests.map(({ bytes }) => bytes), [2 * MiB, 2 * MiB])
    }))

  it.scopedLive.each<readonly [string, string, number | undefined, string]>([
    ["https://storage.test/", "403 Forbidden", undefined, "PROXY_ANSWERED_403"],
    ["http://storage.test/", "407 Proxy Authentication Required", undefined, "PROXY_ANSWERED_407"],
    ["http://storage.test/", "502 Bad Gateway", undefined, "PROXY_ANSWERED_502"],
    ["http://storage.test/", "403 Forbidden", 407, "PROXY_ANSWERED_407"],
    ["http://storage.test/", "403 Forbidden", 405, "PROXY_ANSWERED_403"]
  ])(
    "is not reached at %s if the proxy answers %s and then %s: %s",
    ([href, refusal, forwarded, code]) =>
      Effect.gen(function*() {
        const proxy = yield* tunnels(() => refusal, forwarded === undefined ? undefined : () => forwarded)
        const error = yield* Effect.flip(read(href)).pipe(Effect.provide(through(proxy.port)))
        if (error._tag !== "ConnectionFailed") return assert.fail(error._tag)
        assert.deepStrictEqual([error.code, error.arrived], [code, "no"])
      })
  )

  it.scopedLive.each<readonly [what: string, accept: (socket: Socket) => void, code: RegExp]>([
    ["hangs up", (socket) => socket.resetAndDestroy(), /^PROXY_ECONNRESET$/],
    [
      "does not speak TLS",
      (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
      /^PROXY_(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER)$/
    ]
  ])("what a proxy that %s does is told of the proxy", ([what, accept, code]) =>
    Effect.gen(function*() {
      const port = yield* TcpServer.serve((socket) => {
        socket.on("error", () => undefined).once("data", () => accept(socket))
      })
      const origin = `${what === "hangs up" ? "http" : "https"}://127.0.0.1:${port}`
      const error = yield* Effect.flip(read("https://storage.test/")).pipe(
        Effect.provide(NodeObjectStorage.layer({ proxy: { origin } }))
      )
      if (error._tag !== "ConnectionFailed") return assert.fail(error._tag)
      assert.match(error.code ?? "", code)
      assert.deepStrictEqual([error.arrived, /proxy|TLS/.test(error.message)], ["no", true])
    }))

  it.scopedLive.each<
    readonly [what: string, certificate: { readonly key: string; readonly cert: string }, code: string]
  >([
    ["that nobody trusts", Certificate.elsewhere, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["of another host", Certificate, "ERR_TLS_CERT_ALTNAME_INVALID"]
  ])("a certificate %s is told at the first attempt", ([_, { cert, key }, code]) =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(StorageServer.store, { tls: { cert, key } })
      const proxy = yield* tunnels(() => new URL(server.origin))
      const source = yield* sourceOf(Temporary.distinct(10))
      // known, but for another name
      const ca = cert === Certificate.cert ? cert : undefined
      const error = yield* Effect.flip(put("https://storage.test/", { source })).pipe(
        Effect.provide(through(proxy.port, ca))
      )
      if (error._tag !== "ConnectionFailed") return assert.fail(error._tag)
      assert.deepStrictEqual([error.code, error.arrived, error.recovery], [code, "no", "none"])
      assert.lengthOf(server.requests, 0)
    }))

  it.scopedLive("a proxy that never answers is given up when told to, and its connection is closed", () =>
    Effect.gen(function*() {
      let closed = false
      const port = yield* TcpServer.serve((socket) => {
        socket.on("error", () => undefined).on("close", () => closed = true).resume()
      })
      const source = yield* sourceOf(Temporary.distinct(10))
      const given = yield* put("https://storage.test/", { source }).pipe(
        Effect.timeoutOption("100 millis"),
        Effect.provide(through(port))
      )
      assert.isTrue(given._tag === "None")
      for (let look = 0; look < 100 && !closed; look++) yield* Effect.sleep("5 millis")
      assert.isTrue(closed)
    }))

  it.scopedLive("the client of the service goes through the proxy as well, but not to what is excepted", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        response.end("here")
      })
      const proxy = yield* tunnels(() => new URL(server.origin))
      const origin = `http://127.0.0.1:${proxy.port}`
      const text = (href: string, except: string) =>
        HttpClient.get(href).pipe(
          Effect.flatMap((response) => response.text),
          Effect.scoped,
          Effect.provide(NodeStevedore.layerClient({ proxy: { origin, except } }))
        )
      assert.strictEqual(yield* text("http://api.test/a", ""), "here")
      assert.strictEqual(
        yield* text(`http://127.0.0.2:${new URL(server.origin).port}/b`, "127.0.0.0/8").pipe(
          Effect.orElseSucceed(() => "direct")
        ),
        "direct"
      )
      assert.lengthOf(proxy.asked, 1)
    }))
})
