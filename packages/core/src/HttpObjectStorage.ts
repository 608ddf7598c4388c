/** The object storage over an HTTP client. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ConnectionFailed } from "./ConnectionError.js"
import type { PutRequest, Service } from "./ObjectStorage.js"
import { ObjectStorage } from "./ObjectStorage.js"
import * as PresignedUrl from "./PresignedUrl.js"
import { exactly } from "./source/exactLength.js"
import type { SourceError } from "./SourceError.js"
import type { StorageAnswer } from "./storage/answer.js"
import { answerBytes } from "./storage/answerBytes.js"
import * as StorageAttempt from "./storage/attempt.js"
import { withoutRedirects } from "./storage/redirects.js"
import type { StorageTransport } from "./storage/transport.js"
import { storageOver } from "./storage/transport.js"
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
      return HttpBody.stream(body.stream, "", contentLength)
  }
}

// without a media type: only the headers from `putHeaders` are sent
const withBody = (body: SourceBody, contentLength: number) => HttpClientRequest.setBody(bodyOf(body, contentLength))

// The whole body is read, so that its connection can be reused, but no more than this is kept.
const readStart = <E>(
  response: HttpClientResponse.HttpClientResponse,
  mapError: (error: HttpClientError.HttpClientError) => E
): Effect.Effect<string, E> =>
  Effect.suspend(() => {
    const document = StorageAttempt.startDocument(response.headers)
    return Effect.zipRight(
      Stream.runForEach(answerBytes(response, mapError), (bytes) => Effect.sync(() => document.add(bytes))),
      document.text
    )
  })

const answerOf = <E>(
  response: HttpClientResponse.HttpClientResponse,
  mapError: (error: HttpClientError.HttpClientError) => E
): Effect.Effect<StorageAnswer, E> => {
  const answer = (body: string): StorageAnswer => ({ status: response.status, headers: response.headers, body })
  return response.status >= 200 && response.status < 300
    ? Effect.map(readStart(response, mapError), answer)
    : Effect.map(Effect.orElseSucceed(readStart(response, mapError), () => ""), answer)
}

const counted = (
  body: SourceBody,
  request: PutRequest,
  onEnd: (why: Cause.Cause<SourceError>) => Effect.Effect<void>
): Effect.Effect<SourceBody, SourceError> => {
  const { length } = request.section.range
  switch (body._tag) {
    case "BytesBody":
      return body.bytes.byteLength === length
        ? Effect.succeed(body)
        : Effect.fail(StorageAttempt.otherLength(request, body.bytes.byteLength))
    case "StreamBody":
      return Effect.succeed({
        ...body,
        stream: Stream.tapErrorCause(exactly(body.stream, { name: request.name, size: length }), onEnd)
      })
    case "BlobBody":
      return body.blob.size === length
        ? Effect.succeed(body)
        : Effect.fail(StorageAttempt.otherLength(request, body.blob.size))
    case "NativeBody":
      return Effect.succeed(body)
  }
}

const isAnswered = (error: HttpClientError.HttpClientError): boolean => error._tag !== "RequestError"

const failureOf = (
  error: HttpClientError.HttpClientError,
  { attempt, url }: Pick<PutRequest, "url" | "attempt">
): ConnectionFailed | SourceError => StorageAttempt.failure(error, { url, attempt, answered: isAnswered(error) })

const put = (client: HttpClient.HttpClient): StorageTransport["put"] => (request) =>
  Effect.gen(function*() {
    const mapError = (error: HttpClientError.HttpClientError) => failureOf(error, request)
    let defect = Option.none<Cause.Cause<never>>()
    const body = yield* Effect.flatMap(
      request.section.body((chunk) => request.onSent(chunk.byteLength)),
      (body) =>
        counted(body, request, (why) =>
          Effect.sync(() => {
            defect = Cause.keepDefects(why)
          }))
    )
    const answer = yield* HttpClientRequest.put(PresignedUrl.reveal(request.url)).pipe(
      withBody(body, request.section.range.length),
      HttpClientRequest.setHeaders({ ...StorageAttempt.uncoded, ...request.headers }),
      (bare) =>
        Effect.catchAll(client.execute(bare), (error) =>
          Option.match(defect, {
            onNone: () => Effect.fail(mapError(error)),
            // a client knows it only as a failure of its own, which would be retried
            onSome: Effect.failCause
          })),
      Effect.flatMap((response) => answerOf(response, mapError)),
      (sending) => body._tag === "BlobBody" ? Effect.zipLeft(sending, body.observed, { concurrent: true }) : sending
    )
    // a Blob is a page's: `fetch` sends it again by itself when its connection broke
    return { ...answer, perhapsRepeated: body._tag === "BlobBody" }
  })

const get = (client: HttpClient.HttpClient): StorageTransport["get"] => (request, headers) => {
  const mapError = (error: HttpClientError.HttpClientError) =>
    StorageAttempt.connectionFailure(error, { ...request, answered: isAnswered(error) })
  return Effect.mapBoth(
    HttpClient.withScope(client).execute(
      HttpClientRequest.get(PresignedUrl.reveal(request.url), { headers: { ...StorageAttempt.uncoded, ...headers } })
    ),
    {
      onFailure: mapError,
      onSuccess: (response) => ({
        status: response.status,
        headers: response.headers,
        bytes: answerBytes(response, mapError),
        document: Effect.orElseSucceed(readStart(response, mapError), () => "")
      })
    }
  )
}

/**
 * The storage over any HTTP client that takes raw bodies and follows no redirects, as that of fetch is told to. Trace
 * headers are switched off: storage rejects unsigned headers, and it has no business with traces.
 *
 * @category constructors
 */
export const make: Effect.Effect<Service, never, HttpClient.HttpClient> = Effect.map(
  HttpClient.HttpClient,
  (client) => {
    const untraced = withoutRedirects(HttpClient.withTracerDisabledWhen(client, () => true))
    return storageOver({ put: put(untraced), get: get(untraced), isExact: false, redirects: StorageAttempt.followed })
  }
)

/**
 * {@link make} as a layer.
 *
 * @category layers
 */
export const layer: Layer.Layer<ObjectStorage, never, HttpClient.HttpClient> = Layer.effect(ObjectStorage, make)
