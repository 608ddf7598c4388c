import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import { Effect, Layer, type Option } from "effect"
import * as ConnectionPool from "../../../src/http/connectionPool.js"
import * as SocketClient from "../../../src/http/socketClient.js"

export const own = (ca?: string) =>
  Layer.scoped(
    HttpClient.HttpClient,
    Effect.map(ConnectionPool.make({ tls: ca === undefined ? {} : { ca } }), SocketClient.make)
  )

export const asked = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(
    HttpClient.HttpClient,
    (client) => HttpClient.withScope(HttpClient.withTracerDisabledWhen(client, () => true)).execute(request)
  )

export const get = (url: string) => asked(HttpClientRequest.get(url))

export const pullOf = (response: HttpClientResponse.HttpClientResponse) => {
  const pull = SocketClient.pull(response)
  return pull === undefined ? Effect.dieMessage("an answer of this client has a body") : Effect.succeed(pull)
}

export const all = <E>(pull: Effect.Effect<Uint8Array, Option.Option<E>>) =>
  Effect.gen(function*() {
    const chunks: Array<Uint8Array> = []
    // its memory is used again
    const end = yield* Effect.flip(Effect.forever(Effect.map(pull, (chunk) => chunks.push(new Uint8Array(chunk)))))
    return { bytes: Buffer.concat(chunks), end }
  })

export const codeOf = (cause: unknown): unknown => cause instanceof Error && "code" in cause ? cause.code : undefined
