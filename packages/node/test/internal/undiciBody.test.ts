import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Option, Predicate } from "effect"
import { createServer, type ServerResponse } from "node:http"
import { Readable } from "node:stream"
import * as UndiciBody from "../../src/internal/undiciBody.js"

const serving = (answer: (response: ServerResponse) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((_, response) => answer(response))
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.async<void>((resume) => {
          server.closeAllConnections()
          server.close(() => resume(Effect.void))
        })
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/` : ""
    }
  )

const asked = (url: string) => Effect.flatMap(HttpClient.HttpClient, (client) => HttpClient.withScope(client).get(url))

const pullOf = (response: HttpClientResponse.HttpClientResponse) => {
  const pull = UndiciBody.pull(response)
  return pull === undefined ? Effect.dieMessage("an answer of undici has a body") : Effect.succeed(pull)
}

const bodyOf = (response: HttpClientResponse.HttpClientResponse): Readable => {
  const source = Predicate.hasProperty(response, "source") ? response.source : undefined
  assert(Predicate.hasProperty(source, "body") && source.body instanceof Readable)
  return source.body
}

const all = <E>(pull: Effect.Effect<Uint8Array, Option.Option<E>>) =>
  Effect.gen(function*() {
    const chunks: Array<Uint8Array> = []
    const taken = Effect.map(pull, (chunk) => void chunks.push(chunk))
    const end = yield* Effect.flip(Effect.forever(taken))
    return { bytes: Buffer.concat(chunks), end }
  })

describe("undiciBody", () => {
  it.scopedLive("gives every byte in order, whatever the pieces, and none after the last", () =>
    Effect.gen(function*() {
      const sizes = FastCheck.sample(FastCheck.array(FastCheck.integer({ min: 0, max: 300_000 }), { maxLength: 8 }), 10)
      for (const pieces of sizes) {
        const sent = pieces.map((size, index) => Buffer.alloc(size, index + 1))
        const url = yield* serving((response) => {
          for (const piece of sent) response.write(piece)
          response.end()
        })
        const pull = yield* Effect.flatMap(asked(url), pullOf)
        const { bytes, end } = yield* all(pull)
        assert.isTrue(bytes.equals(Buffer.concat(sent)))
        assert.deepStrictEqual(end, Option.none())
        assert.deepStrictEqual(yield* Effect.flip(pull), Option.none())
      }
    }).pipe(Effect.provide(NodeHttpClient.layerUndici)))

  it.scopedLive("a body that is cut off is no end", () =>
    Effect.gen(function*() {
      const url = yield* serving((response) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write(Buffer.alloc(10))
        setTimeout(() => response.destroy(), 20)
      })
      const { bytes, end } = yield* Effect.flatMap(Effect.flatMap(asked(url), pullOf), all)
      assert.strictEqual(bytes.byteLength, 10)
      assert.strictEqual(Option.getOrThrow(end)._tag, "ResponseError")
    }).pipe(Effect.provide(NodeHttpClient.layerUndici)))

  it.scopedLive("takes no more from the line than it is asked for", () =>
    Effect.gen(function*() {
      const whole = 64 * 2 ** 20
      let taken = 0
      const url = yield* serving((response) => {
        const piece = Buffer.alloc(2 ** 20)
        const more = (): void => {
          while (taken < whole) {
            taken += piece.byteLength
            if (!response.write(piece)) return void response.once("drain", more)
          }
          response.end()
        }
        more()
      })
      const pull = yield* Effect.flatMap(asked(url), pullOf)
      yield* pull
      yield* Effect.sleep("200 millis")
      assert.isBelow(taken, whole / 2)
      const { bytes } = yield* all(pull)
      assert.isAbove(bytes.byteLength, whole / 2)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici)))

  it.scopedLive("interruption while it waits leaves nobody who listens", () =>
    Effect.gen(function*() {
      const url = yield* serving((response) => {
        response.writeHead(200)
        response.flushHeaders()
      })
      const response = yield* asked(url)
      const pull = yield* pullOf(response)
      const listeners = () =>
        ["readable", "end", "error", "close"].map((event) => bodyOf(response).listenerCount(event))
      const before = listeners()
      const exits = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.exit(Effect.timeout(pull, "5 millis"))
      )
      assert.isTrue(exits.every(Exit.isFailure))
      assert.deepStrictEqual(listeners(), before)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici)))

  it("knows nothing of the answers of other clients", () => {
    const answer = HttpClientResponse.fromWeb(HttpClientRequest.get("http://127.0.0.1/"), new Response("text"))
    assert.isUndefined(UndiciBody.pull(answer))
  })
})
