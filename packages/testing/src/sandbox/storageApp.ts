/** The storage of a sandbox: `StorageApp` of `@stevedore/server`, with faults around it. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Observer from "@stevedore/server/Observer"
import * as StorageCors from "@stevedore/server/parts/storageCors"
import * as UrlVerifier from "@stevedore/server/parts/urlVerifier"
import * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Effect from "effect/Effect"
import type * as Connection from "../Connection.js"
import type { Settings } from "../SandboxOptions.js"
import * as ExchangeRunner from "./exchangeRunner.js"
import { fileIdOf } from "./files.js"
import type * as SandboxRecorder from "./recorder.js"

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

const observer = (recording: SandboxRecorder.Recording): Observer.ObserverService => ({
  ...Observer.none,
  refused: (refusal) =>
    Effect.sync(() => {
      if (refusal.details["Expires"] !== undefined) recording.urlExpired()
      recording.refused(refusal.status, refusal.code)
    })
})

/**
 * Storage as an app. It fails where a fault script breaks the connection.
 *
 * @category constructors
 */
export const make = (
  settings: Settings,
  recorder: SandboxRecorder.SandboxRecorder,
  app: HttpApp.Default
): HttpApp.Default<Connection.ConnectionBroken> => {
  const faulty = ExchangeRunner.make(
    settings,
    recorder,
    {
      name: "storage",
      requestIdHeader: "x-amz-request-id",
      app,
      observer,
      refuse: ({ code, retryAfter, status }, requestId) =>
        refusalAnswer(
          StorageRefused.fromStatus(status, code ?? usualCodes[status] ?? "InternalError"),
          requestId,
          retryAfter
        ),
      expired: (recording, serverTime, requestId) => {
        const refusal = UrlVerifier.expired({ expires: serverTime - 1000, serverTime })
        return Effect.as(observer(recording).refused(refusal), refusalAnswer(refusal, requestId))
      }
    },
    (request) => describe(request, settings.bucket)
  )
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const response = yield* faulty
    return request.method === "OPTIONS"
      ? response
      : HttpServerResponse.setHeaders(response, StorageCors.answerHeaders(settings, request.headers["origin"]))
  })
}
