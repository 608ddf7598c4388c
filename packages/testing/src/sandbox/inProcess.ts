/**
 * Passes messages from a client to an app within one process: no socket, no buffering, no copying. The handler itself
 * pulls the body, so time, interruption and failure behave as in Effect.
 */
import type * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import type * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as HttpServerError from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/**
 * Why a body could not be sent.
 *
 * @category errors
 */
export class BodyRefused extends Schema.TaggedError<BodyRefused>("@stevedore/testing/BodyRefused")("BodyRefused", {
  problem: Schema.String
}) {
  override get message(): string {
    return `${this.problem}.`
  }
}

type Body = Stream.Stream<Uint8Array, unknown>

const isAsyncIterable = (body: unknown): body is AsyncIterable<unknown> =>
  Predicate.hasProperty(body, Symbol.asyncIterator)

// Not by their class: a test in jsdom has a Uint8Array of its own, and its TextEncoder makes those of Node
const toBytes = (chunk: unknown): Effect.Effect<Uint8Array, BodyRefused> =>
  ArrayBuffer.isView(chunk)
    ? Effect.succeed(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    : Predicate.isString(chunk)
    ? Effect.succeed(new TextEncoder().encode(chunk))
    : Effect.fail(new BodyRefused({ problem: "A chunk of the body is neither bytes nor text" }))

/**
 * The bytes of a body of any kind that a platform has: bytes, text, a `Blob`, a web stream, or an async iterable such
 * as a Node stream.
 *
 * @category conversions
 */
export const rawBody = (body: unknown): Stream.Stream<Uint8Array, unknown> => {
  if (body instanceof ArrayBuffer) {
    return Stream.succeed(new Uint8Array(body))
  }
  if (body instanceof Blob) {
    return Stream.fromReadableStream(() => body.stream(), (cause) => cause)
  }
  if (body instanceof ReadableStream) {
    return Stream.mapEffect(Stream.fromReadableStream(() => body, (cause) => cause), toBytes)
  }
  // a Node stream is an async iterable
  return isAsyncIterable(body)
    ? Stream.mapEffect(Stream.fromAsyncIterable(body, (cause) => cause), toBytes)
    : Stream.fromEffect(toBytes(body))
}

const bodyOf = (body: HttpBody.HttpBody): Body => {
  switch (body._tag) {
    case "Empty":
      return Stream.empty
    case "Uint8Array":
      return Stream.succeed(body.body)
    case "Stream":
      return body.stream
    case "Raw":
      return rawBody(body.body)
    case "FormData":
      return Stream.fail(new BodyRefused({ problem: "The sandbox does not accept forms" }))
  }
}

// a client that sends more than it declares is cut off by its own HTTP implementation
const atMost = (body: Body, declared: number | undefined): Body =>
  declared === undefined ? body : Stream.suspend(() => {
    let sent = 0
    return Stream.mapEffect(body, (chunk) => {
      sent += chunk.byteLength
      return sent > declared
        ? Effect.fail(new BodyRefused({ problem: `The body is longer than its Content-Length of ${declared}` }))
        : Effect.succeed(chunk)
    })
  })

const lengthOf = (request: HttpClientRequest.HttpClientRequest): number | undefined => {
  const { body, headers } = request
  const declared = headers["content-length"] === undefined ? undefined : Number(headers["content-length"])
  return declared ?? (body._tag === "Empty" ? 0 : body.contentLength)
}

const wireHeaders = (request: HttpClientRequest.HttpClientRequest, url: URL): Headers.Headers => {
  const length = lengthOf(request)
  const hasBody = request.method !== "GET" && request.method !== "HEAD" && request.method !== "OPTIONS"
  const framing = !hasBody || request.headers["content-length"] !== undefined
    ? {}
    : length === undefined
    ? { "transfer-encoding": "chunked" }
    : { "content-length": String(length) }
  return Headers.setAll(request.headers, { host: url.host, ...framing })
}

/**
 * The bytes of a stream in one piece.
 *
 * @category conversions
 */
export const collect = <E>(stream: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E> =>
  Effect.map(Stream.runCollect(stream), (chunks) => {
    const size = Chunk.reduce(chunks, 0, (total, chunk) => total + chunk.byteLength)
    const bytes = new Uint8Array(size)
    let position = 0
    for (const chunk of chunks) {
      bytes.set(chunk, position)
      position += chunk.byteLength
    }
    return bytes
  })

/**
 * A request as an app receives it. As with a socket, its body can be read only once.
 *
 * @category constructors
 */
export const serverRequest = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL
): HttpServerRequest.HttpServerRequest => {
  const target = url.href.slice(url.origin.length).replace(/#.*/, "")
  return new InProcessRequest(
    request.method,
    target,
    target,
    wireHeaders(request, url),
    bodyOf(request.body),
    lengthOf(request)
  )
}

/**
 * A request with another target (path and query), headers or body, on the connection of the one that it replaces.
 *
 * @category combinators
 */
export const replaced = (
  request: HttpServerRequest.HttpServerRequest,
  { body, headers = request.headers, target = request.url }: {
    readonly target?: string | undefined
    readonly headers?: Headers.Headers | undefined
    readonly body?: Uint8Array | Stream.Stream<Uint8Array, unknown> | undefined
  }
): HttpServerRequest.HttpServerRequest => {
  const bytes = body instanceof Uint8Array ? body : undefined
  return new InProcessRequest(
    request.method,
    target,
    target,
    bytes === undefined ? headers : Headers.set(headers, "content-length", String(bytes.length)),
    body === undefined ? request.stream : body instanceof Uint8Array ? Stream.succeed(body) : body,
    bytes?.length,
    request.source
  )
}

class InProcessRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  constructor(
    readonly method: HttpMethod,
    readonly originalUrl: string,
    readonly url: string,
    readonly headers: Headers.Headers,
    private readonly body: Body,
    private readonly declared: number | undefined,
    private readonly from?: unknown
  ) {
    super()
  }

  get source(): unknown {
    return this.from ?? this
  }
  get cookies() {
    return this.web().cookies
  }
  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }
  get multipart() {
    return this.web().multipart
  }
  get multipartStream() {
    return this.web().multipartStream
  }
  get upgrade() {
    return this.web().upgrade
  }
  get stream(): Stream.Stream<Uint8Array, HttpServerError.RequestError> {
    return Stream.mapError(
      atMost(this.body, this.declared),
      (cause) => new HttpServerError.RequestError({ request: this, reason: "Decode", cause })
    )
  }
  get text() {
    return Stream.mkString(Stream.decodeText(this.stream))
  }
  get json() {
    return this.asWeb(({ json }) => json)
  }
  get urlParamsBody() {
    return this.asWeb(({ urlParamsBody }) => urlParamsBody)
  }
  get arrayBuffer() {
    return Effect.map(collect(this.stream), (bytes) => Uint8Array.from(bytes).buffer)
  }
  modify(options: {
    readonly url?: string | undefined
    readonly headers?: Headers.Headers | undefined
  }): HttpServerRequest.HttpServerRequest {
    return new InProcessRequest(
      this.method,
      this.originalUrl,
      options.url ?? this.url,
      options.headers ?? this.headers,
      this.body,
      this.declared,
      this.from
    )
  }
  toJSON(): unknown {
    return { _id: "@stevedore/testing/InProcessRequest", method: this.method }
  }

  private asWeb<A>(
    read: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, HttpServerError.RequestError>
  ): Effect.Effect<A, HttpServerError.RequestError> {
    return Effect.flatMap(this.text, (body) => read(this.web(body)))
  }

  // the platform's own request covers what no handler of the sandbox uses
  private web(body?: string): HttpServerRequest.HttpServerRequest {
    return HttpServerRequest.fromWeb(
      new Request("http://in-process", { method: "POST", ...(body === undefined ? {} : { body }) })
    )
      .modify({ headers: this.headers })
  }
}

/**
 * A response as a client receives it. As with a socket, its body can be read only once; a HEAD has none.
 *
 * @category constructors
 */
export const clientResponse = (
  request: HttpClientRequest.HttpClientRequest,
  response: HttpServerResponse.HttpServerResponse
): HttpClientResponse.HttpClientResponse =>
  new InProcessResponse(request, response, request.method === "HEAD" ? Stream.empty : bodyOf(response.body))

class InProcessResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId

  constructor(
    readonly request: HttpClientRequest.HttpClientRequest,
    private readonly response: HttpServerResponse.HttpServerResponse,
    private readonly body: Body
  ) {
    super()
  }

  get status(): number {
    return this.response.status
  }
  get headers(): Headers.Headers {
    return this.response.headers
  }
  get cookies(): Cookies.Cookies {
    return this.response.cookies
  }
  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }
  get stream(): Stream.Stream<Uint8Array, HttpClientError.ResponseError> {
    return Stream.mapError(
      this.body,
      (cause) => new HttpClientError.ResponseError({ request: this.request, response: this, reason: "Decode", cause })
    )
  }
  get text() {
    return this.asWeb(({ text }) => text)
  }
  get json() {
    return this.asWeb(({ json }) => json)
  }
  get urlParamsBody() {
    return this.asWeb(({ urlParamsBody }) => urlParamsBody)
  }
  get formData() {
    return this.asWeb(({ formData }) => formData)
  }
  get arrayBuffer() {
    return this.asWeb(({ arrayBuffer }) => arrayBuffer)
  }
  toJSON(): unknown {
    return { _id: "@stevedore/testing/InProcessResponse", status: this.status }
  }

  private asWeb<A>(
    read: (
      response: HttpClientResponse.HttpClientResponse
    ) => Effect.Effect<A, HttpClientError.ResponseError>
  ): Effect.Effect<A, HttpClientError.ResponseError> {
    return Effect.flatMap(
      collect(this.stream),
      (bytes) => read(HttpClientResponse.fromWeb(this.request, new Response(new Uint8Array(bytes))))
    )
  }
}
