import { assert, describe, it } from "@effect/vitest"
import { Timeouts } from "@stevedore/core"
import { Duration, Effect } from "effect"
import { longestWhole } from "../../../src/http/socketResponse.js"
import * as Certificate from "../../support/certificate.js"
import { all, codeOf, get, own, pullOf } from "../../support/internal/socketClient.js"
import * as StorageServer from "../../support/storageServer.js"

describe("the client over Node's own sockets", () => {
  it.scopedLive("reads a whole body up to the maximum size, and aborts a longer body with an error", () =>
    Effect.gen(function*() {
      let closed = 0
      const piece = Buffer.alloc(1_048_576, " ")
      const server = yield* StorageServer.serve(({ received, response }) => {
        let left = received.target === "/whole" ? longestWhole / piece.byteLength : Infinity
        const write = () => {
          while (left-- > 0) if (!response.write(piece)) return response.once("drain", write)
          return response.end()
        }
        response.once("close", () => closed++)
        write()
      })
      const whole = yield* get(`${server.origin}/whole`)
      assert.strictEqual((yield* whole.arrayBuffer).byteLength, longestWhole)
      const error = yield* Effect.scoped(
        Effect.flatMap(get(`${server.origin}/endless`), ({ text }) => Effect.flip(text))
      )
      assert.strictEqual(codeOf(error.cause), "ERR_ANSWER_TOO_LONG")
      while (closed < 2) yield* Effect.sleep("5 millis")
    }).pipe(Effect.provide(own())))

  it.scopedLive("applies backpressure to the server until more of the body is pulled", () =>
    Effect.gen(function*() {
      const whole = 64 * 2 ** 20
      let taken = 0
      const server = yield* StorageServer.serve(({ response }) => {
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
      const pull = yield* Effect.flatMap(get(server.origin), pullOf)
      yield* pull
      yield* Effect.sleep("200 millis")
      assert.isBelow(taken, whole / 2)
      const { bytes } = yield* all(pull)
      assert.isAbove(bytes.byteLength, whole / 2)
    }).pipe(Effect.provide(own())))

  it.scopedLive("does not apply the `connect` timeout once the connection is made", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(
        ({ response }) => void setTimeout(() => response.end("slow"), 150),
        { tls: Certificate }
      )
      for (const connect of [Duration.millis(100), Duration.infinity, Duration.days(60)]) {
        const response = yield* get(server.origin).pipe(Timeouts.with({ connect }))
        assert.strictEqual(yield* response.text, "slow")
      }
    }).pipe(Effect.provide(own(Certificate.cert))))
})
