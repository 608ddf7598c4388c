import type { HttpBody } from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import { Timeouts } from "@stevedore/core/Timeouts"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import type * as Option from "effect/Option"
import * as ConnectionPool from "./connectionPool.js"
import type { RequestHead } from "./requestHead.js"
import { requestHead } from "./requestHead.js"
import { SocketResponse } from "./socketResponse.js"

const notEncoded = (request: HttpClientRequest, cause: unknown): HttpClientError.RequestError =>
  new HttpClientError.RequestError({ request, reason: "Encode", cause })

const notTransported = (request: HttpClientRequest, cause: unknown): HttpClientError.RequestError =>
  new HttpClientError.RequestError({ request, reason: "Transport", cause })

export const bytesOf = (body: HttpBody): Uint8Array | undefined => {
  switch (body._tag) {
    case "Empty":
      return new Uint8Array(0)
    case "Uint8Array":
      return body.body
    case "Raw":
      if (typeof body.body === "string") return Buffer.from(body.body)
      return body.body instanceof Uint8Array ? body.body : undefined
    default:
      return undefined
  }
}

const mayHaveBody = (method: HttpClientRequest["method"]): boolean => method !== "GET" && method !== "HEAD"

export const headOf = ({ headers, method }: HttpClientRequest, href: string, length: number): RequestHead =>
  requestHead(
    method,
    href,
    length > 0 || mayHaveBody(method) ? { ...headers, "content-length": String(length) } : headers
  )

/**
 * An HTTP client over Node's sockets for requests with bodies in memory; others are refused. A redirect is a response
 * like any other. A request's connection becomes free for the next one when its signal aborts. Connecting may take as
 * long as `Timeouts.connect` says.
 */
export const make = (pool: ConnectionPool.ConnectionPool): HttpClient.HttpClient =>
  HttpClient.make((request, url, signal) =>
    Effect.gen(function*() {
      const body = bytesOf(request.body)
      if (body === undefined) return yield* notEncoded(request, "a body that is not in memory")
      const head = yield* Effect.try({
        try: () => headOf(request, url.href, body.byteLength),
        catch: (cause) => notEncoded(request, cause)
      })
      const { connect } = yield* Timeouts
      const loan = yield* Effect.uninterruptible(Effect.map(pool.lend(url.href, connect), (loan) => {
        // not by giveBack: nearly every connection is reused and needs no fiber for it
        signal.addEventListener("abort", () => {
          if (!loan.rest()) Effect.runFork(loan.connection.close)
        }, { once: true })
        return loan
      })).pipe(Effect.mapError(({ cause }) => notTransported(request, cause)))
      const { connection } = loan
      connection.request(head)
      connection.sendAll(body, constVoid)
      return yield* connection.answered.pipe(
        Effect.mapBoth({
          onSuccess: (head) => new SocketResponse(request, head, connection, signal),
          onFailure: ({ cause }) => notTransported(request, cause)
        }),
        Effect.tapError(() => pool.distrust(url.href)),
        Effect.onError(() => ConnectionPool.giveBack(loan))
      )
    })
  )

/** The body of one of this client's responses, without a Stream; `undefined` for another client's. */
export const pull = (
  response: HttpClientResponse
): Effect.Effect<Uint8Array, Option.Option<HttpClientError.ResponseError>> | undefined =>
  response instanceof SocketResponse ? response.pullMuch : undefined
