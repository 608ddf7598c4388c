/** Calls of an S3 store over HTTP, each by a signed URL of its own, that fail as storage does. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { errorCode } from "../base/errorCode.js"
import type { Credential } from "../parts/urlSigner.js"
import * as UrlSigner from "../parts/urlSigner.js"
import * as StorageRefused from "../StorageRefused.js"
import * as S3Xml from "./xml.js"

/** Where a bucket is, and what signs for it. @internal */
export interface Place {
  readonly endpoint: string
  readonly bucket: string
  readonly isPathStyle: boolean
}

export interface Call {
  readonly method: HttpMethod
  /** None for the bucket itself. */
  readonly key?: string | undefined
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: Uint8Array | string | undefined
  readonly timeout?: Duration.DurationInput | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The root element; none if there is no body. */
  readonly xml: S3Xml.Element | undefined
}

const requestIdOf = (headers: Answer["headers"]): Readonly<Record<string, string>> => {
  const id = headers["x-amz-request-id"]
  return id !== undefined && /^[\w:/+=.-]{1,128}$/.test(id) ? { StoreRequestId: id } : {}
}

const wrongAnswer = (reason: string) =>
  StorageRefused.make("InternalError", { reason: `The store's answer cannot be read: ${reason}` })

// what a response to HEAD cannot say, and a gateway does not
const usualCodes: Readonly<Record<number, StorageRefused.RefusalCode>> = {
  301: "PermanentRedirect",
  307: "TemporaryRedirect",
  403: "AccessDenied",
  404: "NoSuchKey",
  409: "OperationAborted",
  412: "PreconditionFailed",
  416: "InvalidRange",
  503: "ServiceUnavailable"
}

const refusalOf = (
  status: number,
  headers: Answer["headers"],
  xml: S3Xml.Element | undefined
): StorageRefused.StorageRefused => {
  const error = xml?.name === "Error" ? xml : undefined
  const code = (error && S3Xml.text(error, "Code")) ?? usualCodes[status] ?? `Status${status}`
  const reason = error && S3Xml.text(error, "Message")
  // an error that comes with a success is one of the store
  const told = status < 300 ? 500 : status
  return new StorageRefused.StorageRefused({
    status: told,
    code,
    reason: reason === undefined || reason === "" ? StorageRefused.fromStatus(told, code).reason : reason,
    details: requestIdOf(headers)
  })
}

// without the request, whose URL contains the signature
const unreachable = (error: HttpClientError.HttpClientError) =>
  StorageRefused.make("ServiceUnavailable", { reason: `The store cannot be reached (${errorCode(error.cause)})` })

const LARGEST_ANSWER = 16 * 1024 * 1024

const hasNoBody = (error: HttpClientError.HttpClientError): boolean =>
  error._tag === "ResponseError" && error.reason === "EmptyBody"

const bodyOf = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.catchAll((error) => hasNoBody(error) ? Stream.empty : Stream.fail(unreachable(error))),
    Stream.runFoldEffect({ bytes: 0, chunks: Array<Uint8Array>() }, ({ bytes, chunks }, chunk) =>
      bytes + chunk.byteLength > LARGEST_ANSWER
        ? Effect.fail(wrongAnswer("it is too long"))
        : Effect.sync(() => {
          chunks.push(chunk)
          return { bytes: bytes + chunk.byteLength, chunks }
        })),
    Effect.map(({ chunks }) => {
      const decoder = new TextDecoder()
      return chunks.map((chunk) =>
        decoder.decode(chunk, { stream: true })
      ).join("") + decoder.decode()
    })
  )

const xmlOf = (status: number, text: string) =>
  text.trim() === "" ? Either.right(undefined) : Either.orElse(S3Xml.parse(text), (problem) =>
    // a gateway's page says nothing that its status does not
    status < 300 ? Either.left(wrongAnswer(problem)) : Either.right(undefined))

/** Signing, sending and reading for one store. @internal */
export const make = (
  client: HttpClient.HttpClient,
  place: Place,
  credential: Effect.Effect<Credential, StorageRefused.StorageRefused>
) => {
  // a URL is a secret: it is in no span, and no header of a trace goes to the store
  const quiet = HttpClient.withTracerDisabledWhen(client, () => true)

  /** A URL for this call, at an endpoint that may be another one than the service's own. */
  const sign = (call: Call, expiresIn: number, endpoint = place.endpoint) =>
    Effect.gen(function*() {
      const signing = yield* credential
      const at = yield* Clock.currentTimeMillis
      const left = signing.expiresAt === undefined ? expiresIn : Math.floor((signing.expiresAt - at) / 1000) - 60
      if (left < 1) return yield* StorageRefused.make("ExpiredToken", { reason: "The session of the store has ended" })
      const { host, origin, pathname, protocol } = new URL(endpoint)
      const base = pathname.replace(/\/+$/, "")
      const path = UrlSigner.pathOf(
        ...(place.isPathStyle ? [place.bucket] : []),
        ...(call.key === undefined ? place.isPathStyle ? [] : [""] : [call.key])
      )
      return yield* UrlSigner.sign(signing, {
        method: call.method,
        origin: place.isPathStyle ? origin : `${protocol}//${place.bucket}.${host}`,
        path: `${base}${path}`,
        query: call.query,
        headers: call.headers,
        at,
        expiresIn: Math.min(expiresIn, left)
      })
    })

  const request = (call: Call) =>
    Effect.flatMap(sign(call, 300), (url) =>
      Effect.mapError(
        quiet.execute(
          HttpClientRequest.make(call.method)(url, {
            headers: call.headers ?? {},
            ...(call.body === undefined ? {} : {
              body: typeof call.body === "string"
                ? HttpBody.text(call.body, "application/xml")
                : HttpBody.uint8Array(call.body, call.headers?.["content-type"])
            })
          })
        ),
        unreachable
      ))

  /** One call and its answer. A redirect is a refusal, and so is an error in a success. */
  const send = (call: Call): Effect.Effect<Answer, StorageRefused.StorageRefused> =>
    Effect.gen(function*() {
      const { headers, status, ...response } = yield* request(call).pipe(
        Effect.flatMap((response) =>
          Effect.map(bodyOf(response), (text) => ({ headers: response.headers, status: response.status, text }))
        )
      )
      const xml = yield* xmlOf(status, response.text)
      return status >= 300 || xml?.name === "Error"
        ? yield* refusalOf(status, headers, xml)
        : { status, headers, xml }
    }).pipe(
      Effect.timeoutFail({
        duration: call.timeout ?? "15 seconds",
        onTimeout: () => StorageRefused.make("ServiceUnavailable", { reason: "The store does not answer" })
      }),
      Effect.withSpan("S3FileStore.send", { attributes: { method: call.method, key: call.key ?? "" } })
    )

  return {
    sign,
    send,
    /** For what does the same however often it is done. */
    sendAgain: (call: Call) =>
      Effect.retry(send(call), {
        while: ({ status }) => status >= 500,
        times: 3,
        schedule: Schedule.jittered(Schedule.exponential("100 millis"))
      }),
    /** A body as it comes. */
    read: (call: Call): Stream.Stream<Uint8Array, StorageRefused.StorageRefused> =>
      Stream.unwrap(Effect.gen(function*() {
        const response = yield* request(call).pipe(Effect.timeoutFail({
          duration: call.timeout ?? "15 seconds",
          onTimeout: () => StorageRefused.make("ServiceUnavailable", { reason: "The store does not answer" })
        }))
        if (response.status >= 300) {
          const xml = yield* xmlOf(response.status, yield* bodyOf(response))
          return yield* refusalOf(response.status, response.headers, xml)
        }
        return Stream.mapError(response.stream, unreachable)
      }))
  }
}

export type Calls = ReturnType<typeof make>

/** A value that an answer must have. @internal */
export const required = <A>(value: A | undefined, name: string): Effect.Effect<A, StorageRefused.StorageRefused> =>
  value === undefined ? wrongAnswer(`it has no ${name}`) : Effect.succeed(value)

/** The root of an answer, which has this name. @internal */
export const rootOf = ({ xml }: Answer, name: string): Effect.Effect<S3Xml.Element, StorageRefused.StorageRefused> =>
  xml?.name === name ? Effect.succeed(xml) : wrongAnswer(`it is no ${name}`)

/** The text of an element that must have it. @internal */
export const textIn = (element: S3Xml.Element, name: string): Effect.Effect<string, StorageRefused.StorageRefused> =>
  required(S3Xml.text(element, name), name)

/** A whole number that is not negative. @internal */
export const wholeNumber = (
  text: string | undefined,
  name: string
): Effect.Effect<number, StorageRefused.StorageRefused> =>
  required(text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined, name)
