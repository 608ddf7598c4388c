import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { AnswerHead } from "./answerParser.js"
import type { Connection } from "./connection.js"
import { type Json, PlatformResponse } from "./platformResponse.js"

/**
 * The most bytes of a response that is read as a whole, three times the size of ten thousand signed URLs. A response
 * that never ends would take all memory, and some are longer than a string can be.
 */
export const longestWhole = 67_108_864

class AnswerTooLong extends Error {
  readonly code = "ERR_ANSWER_TOO_LONG"
}

type ResponseError = HttpClientError.ResponseError

type Pull = Effect.Effect<Uint8Array, Option.Option<ResponseError>>

/** A response whose body is still on its connection. */
export class SocketResponse extends PlatformResponse implements HttpClientResponse {
  readonly #head: AnswerHead
  readonly #connection: Connection
  readonly #signal: AbortSignal
  #whole: Deferred.Deferred<ArrayBuffer, ResponseError> | undefined

  /** `signal` aborts once the connection no longer belongs to this response. */
  constructor(request: HttpClientRequest, head: AnswerHead, connection: Connection, signal: AbortSignal) {
    super(request)
    this.#head = head
    this.#connection = connection
    this.#signal = signal
  }

  get status(): number {
    return this.#head.status
  }

  get headers(): Headers.Headers {
    return Headers.unsafeFromRecord({ ...this.#head.headers })
  }

  get cookies(): Cookies.Cookies {
    return Cookies.fromSetCookie(this.#head.cookies)
  }

  /** The next bytes, valid until the next pull; fails with none at the end. */
  get pull(): Pull {
    return Effect.suspend(() =>
      this.#signal.aborted
        ? Effect.fail(Option.some(this.#error(this.#signal.reason)))
        : Effect.mapError(this.#connection.pull, Option.map(({ cause }) => this.#error(cause)))
    )
  }

  /** {@link pull} for a body that may be large. */
  get pullMuch(): Pull {
    this.#connection.expectMuch()
    return this.pull
  }

  get stream(): Stream.Stream<Uint8Array, ResponseError> {
    return Stream.repeatEffectOption(Effect.map(this.pull, (bytes) => new Uint8Array(bytes)))
  }

  // Effect.cached would need a fiber of its own here, which is an eighth of the steps of a call
  get arrayBuffer(): Effect.Effect<ArrayBuffer, ResponseError> {
    return Effect.suspend(() => {
      if (this.#whole !== undefined) return Deferred.await(this.#whole)
      const whole = this.#whole = Deferred.unsafeMake<ArrayBuffer, ResponseError>(FiberId.none)
      const tooLong = () => this.#error(new AnswerTooLong(`The response has more than ${longestWhole} bytes`))
      return Effect.onExit(readWhole(this.pull, tooLong), (exit) => Deferred.done(whole, exit))
    })
  }

  get text(): Effect.Effect<string, ResponseError> {
    return Effect.map(this.arrayBuffer, (bytes) => new TextDecoder().decode(bytes))
  }

  get json(): Effect.Effect<Json, ResponseError> {
    return this.#decoded(this.text, (text): Json => text === "" ? null : JSON.parse(text))
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, ResponseError> {
    return this.#decoded(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get formData(): Effect.Effect<FormData, ResponseError> {
    return Effect.flatMap(this.arrayBuffer, (bytes) =>
      Effect.tryPromise({
        try: () => new Response(bytes, { headers: this.#head.headers }).formData(),
        catch: (cause) => this.#error(cause)
      }))
  }

  /**
   * Contains no body, which would be taken from its reader, and no headers: either may contain a signed URL, and the
   * request's headers contain the token.
   */
  override toJSON(): unknown {
    return { _id: "@effect/platform/HttpClientResponse", method: this.request.method, status: this.status }
  }

  #decoded<A, B>(body: Effect.Effect<A, ResponseError>, decode: (body: A) => B): Effect.Effect<B, ResponseError> {
    return Effect.flatMap(body, (body) => Effect.try({ try: () => decode(body), catch: (cause) => this.#error(cause) }))
  }

  #error(cause: unknown): ResponseError {
    return new HttpClientError.ResponseError({ request: this.request, response: this, reason: "Decode", cause })
  }
}

const readWhole = (pull: Pull, tooLong: () => ResponseError): Effect.Effect<ArrayBuffer, ResponseError> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const read: Effect.Effect<ArrayBuffer, ResponseError> = Effect.matchEffect(pull, {
      onSuccess: (bytes) => {
        chunks.push(new Uint8Array(bytes))
        size += bytes.byteLength
        return size > longestWhole ? Effect.fail(tooLong()) : read
      },
      onFailure: Option.match({
        onNone: () => Effect.succeed(joined(chunks)),
        onSome: Effect.fail
      })
    })
    return read
  })

// a copy: the memory of a Buffer may also hold the bytes of others
const joined = (chunks: ReadonlyArray<Uint8Array>): ArrayBuffer => new Uint8Array(Buffer.concat(chunks)).buffer
