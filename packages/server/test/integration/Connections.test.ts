import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Effect, Exit, Logger, Scope, Stream } from "effect"
import { connect, type Socket } from "node:net"
import * as NodeListen from "../../src/node/listen.js"
import * as StorageRefused from "../../src/StorageRefused.js"

interface Sent {
  readonly socket: Socket
  /** All that has come, once the connection is closed. */
  readonly closed: Effect.Effect<string>
}

/** Sends raw text on a connection of its own. */
const send = (origin: string, text: string) =>
  Effect.gen(function*() {
    const closed = yield* Deferred.make<string>()
    const socket = yield* Effect.acquireRelease(
      Effect.async<Socket>((resume) => {
        const made: Socket = connect(Number(new URL(origin).port), "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (one) => Effect.sync(() => one.destroy())
    )
    let got = ""
    socket.on("data", (data) => got += data.toString("latin1"))
    socket.on("error", () => {})
    socket.on("close", () => Deferred.unsafeDone(closed, Effect.succeed(got)))
    socket.write(text)
    return { socket, closed: Deferred.await(closed) } satisfies Sent
  })

const listening = (
  app: Parameters<typeof NodeListen.listen>[0],
  options: NodeListen.Options = {}
) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => {
      lines.push(`${String(message)} ${cause._tag}`)
    })
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const origin = yield* NodeListen.listen(app, Effect.succeed([]), options).pipe(
      Scope.extend(scope),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
    return { origin, lines, end: Scope.close(scope, Exit.void) }
  })

const HEAD = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

const within = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, "10 seconds")

describe("a connection", () => {
  const limits = { head: "200 millis", silence: "600 millis", linger: "300 millis" } as const
  const reads = HttpServerRequest.HttpServerRequest.pipe(
    Effect.flatMap(({ text }) => text),
    Effect.map((text) => HttpServerResponse.text(text)),
    Effect.orDie
  )
  const endless = Effect.succeed(HttpServerResponse.stream(Stream.repeatEffect(Effect.succeed(new Uint8Array(65_536)))))

  it.scopedLive.each<readonly [string, string, RegExp, RegExp | undefined]>([
    ["that sends nothing", "", /^(?:HTTP\/1\.1 408 [^]*)?$/, undefined],
    ["that sends half a head", "GET / HTTP/1.1\r\nHost: x\r\nX-A: ", /^HTTP\/1\.1 408 /, undefined],
    [
      "that sends half a body",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
      /^$/,
      /^POST \/: its client was silent for 0\.6 s/
    ]
  ])("%s is closed", ([_, text, answer, line]) =>
    Effect.gen(function*() {
      const { lines, origin } = yield* listening(reads, { limits })
      const { closed } = yield* send(origin, text)
      assert.match(yield* within(closed), answer)
      assert.isTrue(line === undefined ? lines.length === 0 : lines.some((one) => line.test(one)), lines.join("\n"))
    }))

  it.scopedLive("whose client does not read is closed, and one that waits for its answer is not", () =>
    Effect.gen(function*() {
      const { lines, origin } = yield* listening(endless, { limits })
      const { closed, socket } = yield* send(origin, HEAD)
      socket.pause()
      yield* Effect.sleep("2 seconds")
      socket.resume()
      yield* within(closed)
      assert.match(lines.join("\n"), /^GET \/: its client was silent/)
      const slow = yield* listening(Effect.delay(Effect.succeed(HttpServerResponse.text("done")), "2 seconds"), {
        limits
      })
      const waiting = yield* send(slow.origin, HEAD.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))
      assert.match(yield* within(waiting.closed), /done$/)
    }))

  it.scopedLive("one too many is closed at once", () =>
    Effect.gen(function*() {
      const { origin } = yield* listening(Effect.succeed(HttpServerResponse.text("done")), {
        limits: { connections: 1 }
      })
      const first = yield* send(origin, "GET")
      const second = yield* send(origin, HEAD)
      assert.strictEqual(yield* within(second.closed), "")
      first.socket.write(HEAD.slice(3).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))
      assert.match(yield* within(first.closed), /done$/)
    }))

  it.scopedLive("whose body is not read to its end has its answer all the same", () =>
    Effect.gen(function*() {
      const refused = HttpServerRequest.HttpServerRequest.pipe(
        Effect.flatMap(({ stream }) => Stream.runHead(stream)),
        Effect.as(HttpServerResponse.text("enough", { status: 413 })),
        Effect.orDie
      )
      const { origin } = yield* listening(refused, { limits })
      const sent = yield* send(origin, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
      const chunk = "x".repeat(65_536)
      yield* Effect.fork(Effect.forever(Effect.delay(Effect.sync(() => sent.socket.write(chunk)), "5 millis")))
      // whoever goes on sending is cut off after a while
      assert.match(yield* within(sent.closed), /^HTTP\/1\.1 413 [^]*enough$/)
    }))
})

describe("an answer that fails", () => {
  const part = Chunk.of(new TextEncoder().encode("12345"))
  const failure = Stream.fail(StorageRefused.make("InternalError", { reason: "The disk is gone" }))
  // what was not written yet is dropped with the connection
  const CUT = /^(?:HTTP\/1\.1 200 [^]*)?$/
  const answer = (stream: Stream.Stream<Uint8Array, unknown>) =>
    HttpServerResponse.stream(stream, { headers: { "content-length": "10", "access-control-allow-origin": "*" } })

  it.scopedLive.each<readonly [string, HttpServerResponse.HttpServerResponse, RegExp, RegExp]>([
    [
      "before its first byte",
      answer(failure),
      /^HTTP\/1\.1 500 [^]*access-control-allow-origin: \*[^]*errors/,
      /^GET \/f answered 500/
    ],
    ["in the middle", answer(Stream.concat(Stream.fromChunk(part), failure)), CUT, /^GET \/f broke off/],
    ["at its end", answer(Stream.concat(Stream.make(...part, ...part), failure)), CUT, /^GET \/f broke off/],
    ["by too few bytes", answer(Stream.fromChunk(part)), CUT, /^GET \/f broke off/],
    ["by none at all", answer(Stream.empty), /^HTTP\/1\.1 500 /, /^GET \/f answered 500/],
    [
      "by a header that is none",
      HttpServerResponse.text("x", { contentType: "text/\u0001" }),
      /^HTTP\/1\.1 500 /,
      /^GET \/f answered 500/
    ]
  ])("%s ends, and is logged once", ([_, failing, answered, line]) =>
    Effect.gen(function*() {
      const { lines, origin } = yield* listening(Effect.succeed(failing))
      const { closed, socket } = yield* send(origin, HEAD.replace("/", "/f?X-Amz-Signature=secret"))
      // an answer keeps its connection, and what broke off has ended it
      if (answered !== CUT) yield* Effect.delay(Effect.sync(() => socket.end()), "200 millis")
      assert.match(yield* within(closed), answered)
      assert.strictEqual(lines.length, 1, lines.join("\n"))
      assert.match(lines.join("\n"), line)
      assert.notInclude(lines.join("\n"), "secret")
    }))
})
