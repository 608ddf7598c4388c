/**
 * The object storage over an HTTP client.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { arrival, ConnectionFailed, systemCode } from "./ConnectionError.js"
import { exactly } from "./internal/exactLength.js"
import type { GetAnswer, GetRequest, PutRequest, Service } from "./ObjectStorage.js"
import { checkDeadline, ObjectStorage } from "./ObjectStorage.js"
import * as PresignedUrl from "./PresignedUrl.js"
import * as RangedContent from "./RangedContent.js"
import type { SourceError } from "./SourceError.js"
import { isSourceError, SourceChanged } from "./SourceError.js"
import type { StorageAnswer } from "./StorageAnswer.js"
import type { StorageError } from "./StorageError.js"
import type { PutReceipt } from "./StorageResponse.js"
import { interpret, interpretPut, rejected } from "./StorageResponse.js"
import type { SourceBody } from "./UploadSource.js"

const bodyOf = (body: SourceBody, contentLength: number): HttpBody.HttpBody => {
  switch (body._tag) {
    case "BytesBody":
      return HttpBody.raw(body.bytes, { contentLength })
    case "NativeBody":
      return HttpBody.raw(body.content, { contentLength })
    case "BlobBody":
      return HttpBody.raw(body.blob, { contentLength })
    case "StreamBody":
      // without a media type of its own: what is sent is what `putHeaders` gave
      return HttpBody.stream(body.stream, "", contentLength)
  }
}

const causeChain = function*(error: unknown): Generator<unknown> {
  let current: unknown = error
  for (let depth = 0; depth < 8 && current !== undefined; depth++) {
    yield current
    current = Predicate.hasProperty(current, "cause") ? current.cause : undefined
  }
}

// Neither the error nor its chain is kept: they hold the request, and with it the signature.
const failureOf = (
  error: HttpClientError.HttpClientError,
  request: { readonly url: PresignedUrl.PresignedUrl; readonly attempt: number }
): StorageError | SourceError => {
  for (const cause of causeChain(error)) {
    if (isSourceError(cause)) return cause
  }
  const code = systemCode(error)
  return new ConnectionFailed({
    peer: "storage",
    origin: request.url.origin,
    ...(code === undefined ? {} : { code }),
    arrived: error._tag === "RequestError" ? arrival(code) : "unknown",
    attempts: request.attempt
  })
}

const longestErrorDocument = 65_536

// The whole body is read, so that its connection can be used again, but no more than this is kept.
const readStart = (response: HttpClientResponse.HttpClientResponse) =>
  Stream.runFold(
    Stream.decodeText(response.stream),
    "",
    (kept, text) => kept.length >= longestErrorDocument ? kept : kept + text
  ).pipe(Effect.catchIf(hasNoBody, () => Effect.succeed("")))

// A client may tell an answer without a body by an error.
const hasNoBody = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "ResponseError" && error.reason === "EmptyBody"

const answerOf = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<StorageAnswer, HttpClientError.HttpClientError> => {
  const answer = (body: string): StorageAnswer => ({ status: response.status, headers: response.headers, body })
  return response.status >= 200 && response.status < 300
    ? Effect.map(readStart(response), answer)
    : Effect.map(Effect.orElseSucceed(readStart(response), () => ""), answer)
}

const counted = (body: SourceBody, request: PutRequest): Effect.Effect<SourceBody, SourceError> => {
  const { length } = request.section.range
  switch (body._tag) {
    case "BytesBody":
      return body.bytes.byteLength === length
        ? Effect.succeed(body)
        : Effect.fail(changed(request, body.bytes.byteLength))
    case "StreamBody":
      return Effect.succeed({ ...body, stream: exactly(body.stream, { name: request.name, size: length }) })
    case "BlobBody":
      return body.blob.size === length ? Effect.succeed(body) : Effect.fail(changed(request, body.blob.size))
    case "NativeBody":
      return Effect.succeed(body)
  }
}

const changed = (request: PutRequest, actual: number): SourceChanged =>
  new SourceChanged({
    name: request.name,
    what: "size",
    expected: `${request.section.range.length} bytes from ${request.section.range.offset}`,
    actual: `${actual} bytes`,
    attempts: request.attempt
  })

const put =
  (client: HttpClient.HttpClient) => (request: PutRequest): Effect.Effect<PutReceipt, StorageError | SourceError> =>
    Effect.gen(function*() {
      yield* checkDeadline(request, yield* Clock.currentTimeMillis)
      const { length } = request.section.range
      let sent = 0
      const body = yield* Effect.flatMap(
        request.section.body((chunk) => {
          sent += chunk.byteLength
          request.onSent(chunk.byteLength)
        }),
        (body) => counted(body, request)
      )
      const answer = yield* HttpClientRequest.put(PresignedUrl.reveal(request.url)).pipe(
        HttpClientRequest.setBody(bodyOf(body, length)),
        HttpClientRequest.setHeaders(request.headers),
        (bare) => Effect.flatMap(client.execute(bare), answerOf),
        Effect.mapError((error) => failureOf(error, request)),
        (sending) => body._tag === "BlobBody" ? Effect.zipLeft(sending, body.observed, { concurrent: true }) : sending
      )
      const receipt = yield* interpretPut(answer, {
        url: request.url,
        sentHeaders: [...Object.keys(request.headers), "content-length"],
        serverNow: (yield* Clock.currentTimeMillis) + request.clockOffset,
        attempts: request.attempt
      })
      return sent === length ? receipt : yield* changed(request, sent)
    }).pipe(
      Effect.scoped,
      Effect.withSpan("ObjectStorage.put", {
        kind: "client",
        captureStackTrace: false,
        attributes: {
          origin: request.url.origin,
          path: request.url.path,
          part: Option.getOrUndefined(request.url.partNumber),
          attempt: request.attempt,
          bytes: request.section.range.length
        }
      })
    )

const onlyStorageErrors = (error: StorageError | SourceError, request: GetRequest): StorageError =>
  isSourceError(error)
    ? new ConnectionFailed({
      peer: "storage",
      origin: request.url.origin,
      arrived: "unknown",
      attempts: request.attempt
    })
    : error

const get =
  (client: HttpClient.HttpClient) => (request: GetRequest): Effect.Effect<GetAnswer, StorageError, Scope.Scope> => {
    const headers = RangedContent.headers(request)
    const mapError = (error: HttpClientError.HttpClientError) => onlyStorageErrors(failureOf(error, request), request)
    return Effect.gen(function*() {
      const response = yield* Effect.mapError(
        HttpClient.withScope(client).execute(
          HttpClientRequest.get(PresignedUrl.reveal(request.url), { headers })
        ),
        mapError
      )
      const held = RangedContent.held(response, request)
      if (Option.isSome(held)) return { ...held.value, bytes: Stream.mapError(response.stream, mapError) }
      const answer = yield* Effect.mapError(answerOf(response), mapError)
      const asked = {
        url: request.url,
        sentHeaders: Object.keys(headers),
        serverNow: yield* Clock.currentTimeMillis,
        attempts: request.attempt
      }
      return yield* Either.match(interpret(answer, asked), {
        onLeft: (error) => Effect.fail(error),
        onRight: () => Effect.fail(rejected(answer, asked))
      })
    }).pipe(
      Effect.withSpan("ObjectStorage.get", {
        kind: "client",
        captureStackTrace: false,
        attributes: { origin: request.url.origin, path: request.url.path, attempt: request.attempt }
      })
    )
  }

/**
 * The storage over any HTTP client that takes raw bodies and follows no redirects. Trace headers are switched off:
 * storage refuses what is not signed, and they are nobody's business there.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Service, never, HttpClient.HttpClient> = Effect.map(
  HttpClient.HttpClient,
  (client) => {
    const untraced = HttpClient.withTracerDisabledWhen(client, () => true)
    return { put: put(untraced), get: get(untraced) }
  }
)

/**
 * {@link make} as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ObjectStorage, never, HttpClient.HttpClient> = Layer.effect(ObjectStorage, make)
