/**
 * Storage for a service whose store cannot be reached by itself, such as a directory: an HTTP app that checks pre-signed
 * URLs, takes the bytes of an object or a part, and gives objects back, with ranges and conditions.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Signing } from "./FileStore.js"
import { FileStore } from "./FileStore.js"
import { FileTable } from "./FileTable.js"
import * as Identifiers from "./Identifiers.js"
import * as ObjectAnswer from "./ObjectAnswer.js"
import * as StorageCors from "./StorageCors.js"
import * as StorageRefused from "./StorageRefused.js"
import * as StorageRequest from "./StorageRequest.js"
import * as UrlVerifier from "./UrlVerifier.js"

const cors: StorageCors.Settings = { cors: { exposeEtag: true } }

const KEY = /^files\/([^/]+)\/([^/]+)$/

/**
 * Storage as an app. A single PUT is refused once its upload is being completed: a URL that is still valid cannot change a
 * file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  signing: Pick<Signing, "credential" | "bucket">
): Effect.Effect<HttpApp.Default, never, FileStore | FileTable> =>
  Effect.gen(function*() {
    const store = yield* FileStore
    const table = yield* FileTable

    const checkWaiting = (key: string) =>
      Effect.gen(function*() {
        const [, tenant = "", id = ""] = KEY.exec(key) ?? []
        const row = yield* Effect.flatten(table.find(decodeURIComponent(tenant), id))
        return row.state === "waiting"
      }).pipe(
        Effect.catchTags({
          NoSuchElementException: () => Effect.succeed(false),
          TableFailed: () => StorageRefused.make("ServiceUnavailable")
        }),
        Effect.flatMap((isWaiting) =>
          isWaiting ? Effect.void : StorageRefused.make("AccessDenied", { reason: "The upload is over" })
        )
      )

    const put = (
      request: HttpServerRequest.HttpServerRequest,
      key: string,
      { partNumber, uploadId }: Readonly<Record<string, string>>
    ) =>
      Effect.gen(function*() {
        const length = yield* StorageRequest.declaredLength(request.headers)
        const body = StorageRequest.ofLength(
          Stream.mapError(request.stream, () => StorageRefused.make("IncompleteBody")),
          length
        )
        if (partNumber === undefined && uploadId === undefined) {
          yield* checkWaiting(key)
          return yield* store.put(key, body, { contentType: request.headers["content-type"] })
        }
        return yield* store.putPart(key, uploadId ?? "", yield* StorageRequest.partNumber(partNumber ?? ""), body)
      })

    const handle = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.gen(function*() {
        if (request.method === "OPTIONS") {
          return StorageCors.preflight(cors, request.headers) ?? (yield* StorageRefused.make("AccessForbidden"))
        }
        const verified = yield* UrlVerifier.verify(
          signing.credential,
          { method: request.method, target: request.url, headers: request.headers },
          yield* Clock.currentTimeMillis
        )
        const key = yield* StorageRequest.keyIn(signing.bucket, verified.path)
        switch (request.method) {
          case "PUT": {
            const { etag } = yield* put(request, key, verified.query)
            return HttpServerResponse.empty({ status: 200, headers: { etag } })
          }
          case "GET":
          case "HEAD":
            return yield* ObjectAnswer.make(request.headers, yield* store.head(key), store)
          default:
            return yield* StorageRefused.make("MethodNotAllowed", { details: { Method: request.method } })
        }
      })

    return Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const requestId = yield* Identifiers.requestId
      const answer = yield* handle(request).pipe(
        Effect.catchTag("StorageRefused", (refusal) =>
          Effect.succeed(HttpServerResponse.text(StorageRefused.toXml(refusal, requestId), {
            status: refusal.status,
            contentType: "application/xml"
          }))),
        Effect.catchAllCause((cause) =>
          Effect.as(
            Effect.logError("A request to storage has failed", cause),
            HttpServerResponse.text(StorageRefused.toXml(StorageRefused.make("InternalError"), requestId), {
              status: 500,
              contentType: "application/xml"
            })
          )
        )
      )
      return HttpServerResponse.setHeaders(answer, {
        "x-amz-request-id": requestId,
        ...(request.method === "OPTIONS" ? {} : StorageCors.answerHeaders(cors, request.headers["origin"]))
      })
    })
  })
