/**
 * Storage: an HTTP app that speaks S3's dialect as far as pre-signed URLs need it. PUT of an object and of a part, GET
 * with ranges, HEAD, and CORS.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { fileIdOf } from "@stevedore/server/Files"
import * as ObjectAnswer from "@stevedore/server/ObjectAnswer"
import type * as ObjectStore from "@stevedore/server/ObjectStore"
import * as StorageCors from "@stevedore/server/StorageCors"
import * as StorageRefused from "@stevedore/server/StorageRefused"
import * as StorageRequest from "@stevedore/server/StorageRequest"
import * as UrlVerifier from "@stevedore/server/UrlVerifier"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Connection from "./Connection.js"
import * as ExchangeRunner from "./ExchangeRunner.js"
import type { Settings } from "./SandboxOptions.js"
import type * as SandboxRecorder from "./SandboxRecorder.js"

const refusalAnswer = (
  refusal: StorageRefused.StorageRefused,
  requestId: string,
  retryAfter?: string | undefined
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(StorageRefused.toXml(refusal, requestId), {
    status: refusal.status,
    contentType: "application/xml",
    headers: retryAfter === undefined ? {} : { "retry-after": retryAfter }
  })

const usualCodes: Readonly<Record<number, StorageRefused.RefusalCode>> = {
  301: "PermanentRedirect",
  307: "TemporaryRedirect",
  400: "InvalidRequest",
  403: "AccessDenied",
  404: "NoSuchKey",
  405: "MethodNotAllowed",
  409: "OperationAborted",
  411: "MissingContentLength",
  412: "PreconditionFailed",
  416: "InvalidRange",
  429: "SlowDown",
  501: "NotImplemented",
  503: "SlowDown"
}

const server: ExchangeRunner.Server = {
  name: "storage",
  requestIdHeader: "x-amz-request-id",
  refuse: ({ code, retryAfter, status }, requestId) =>
    refusalAnswer(
      StorageRefused.fromStatus(status, code ?? usualCodes[status] ?? "InternalError"),
      requestId,
      retryAfter
    )
}

// until the signature is checked, a path is only a claim; that is enough to identify the exchange
const describe = (request: HttpServerRequest.HttpServerRequest, bucket: string): ExchangeRunner.Described => {
  const [path = "", search = ""] = request.url.split("?")
  const prefix = `/${bucket}/`
  const fileId = path.startsWith(prefix) ? fileIdOf(path.slice(prefix.length)) : undefined
  const partNumber = new URLSearchParams(search).get("partNumber")
  switch (request.method) {
    case "PUT":
      return partNumber === null ? { operation: "put", fileId } : {
        operation: "putPart",
        fileId,
        part: /^\d+$/.test(partNumber) ? Number(partNumber) : undefined
      }
    case "GET":
    case "HEAD":
      return { operation: "get", fileId }
    case "OPTIONS":
      return { operation: "preflight" }
    default:
      return { operation: "unknown" }
  }
}

/**
 * Storage as an app. It fails where a fault script breaks the connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  settings: Settings,
  store: ObjectStore.ObjectStoreService,
  recorder: SandboxRecorder.SandboxRecorder
): HttpApp.Default<Connection.ConnectionBroken> => {
  const run = ExchangeRunner.make(settings, recorder, server)
  const encryption = settings.encryptionHeaders

  const authenticate = ({ fault, recording, request, serverTime }: ExchangeRunner.Tools) =>
    Option.exists(fault, ({ _tag }) => _tag === "Expire")
      ? Effect.sync(recording.urlExpired).pipe(
        Effect.zipRight(UrlVerifier.expired({ expires: serverTime - 1000, serverTime }))
      )
      : UrlVerifier.verify(
        settings.credential,
        { method: request.method, target: request.url, headers: request.headers },
        serverTime
      ).pipe(
        Effect.tapError((refusal) =>
          Effect.sync(() => {
            if (refusal.details["Expires"] !== undefined) {
              recording.urlExpired()
            }
          })
        )
      )

  const put = (tools: ExchangeRunner.Tools, key: string, query: Readonly<Record<string, string>>) =>
    Effect.gen(function*() {
      const { partNumber, uploadId } = query
      const length = yield* StorageRequest.declaredLength(tools.request.headers)
      const body = StorageRequest.ofLength(tools.body, length)
      if (partNumber === undefined && uploadId === undefined) {
        const object = yield* store.put(key, body, { contentType: tools.request.headers["content-type"] })
        return HttpServerResponse.empty({ status: 200, headers: { etag: object.etag, ...encryption } })
      }
      const number = yield* StorageRequest.partNumber(partNumber ?? "")
      const part = yield* store.putPart(key, uploadId ?? "", number, body)
      return HttpServerResponse.empty({ status: 200, headers: { etag: part.etag, ...encryption } })
    })

  const handle = (tools: ExchangeRunner.Tools) =>
    Effect.gen(function*() {
      const { request } = tools
      if (request.method === "OPTIONS") {
        const allowed = StorageCors.preflight(settings, request.headers)
        return allowed ?? (yield* StorageRefused.make("AccessForbidden"))
      }
      const verified = yield* authenticate(tools)
      const key = yield* StorageRequest.keyIn(settings.bucket, verified.path)
      switch (request.method) {
        case "PUT":
          return yield* put(tools, key, verified.query)
        case "GET":
        case "HEAD":
          return yield* ObjectAnswer.make(request.headers, yield* store.head(key), store)
        default:
          return yield* StorageRefused.make("MethodNotAllowed", { details: { Method: request.method } })
      }
    }).pipe(
      Effect.catchTag("StorageRefused", (refusal) =>
        Effect.sync(() => {
          tools.recording.refused(refusal.status, refusal.code)
          return refusalAnswer(refusal, tools.requestId)
        }))
    )

  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const response = yield* run(describe(request, settings.bucket), handle)
    return request.method === "OPTIONS"
      ? response
      : HttpServerResponse.setHeaders(response, StorageCors.answerHeaders(settings, request.headers["origin"]))
  })
}
