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
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Signing } from "./FileStore.js"
import { FileStore } from "./FileStore.js"
import { FileTable } from "./FileTable.js"
import * as Identifiers from "./Identifiers.js"
import * as ObjectAnswer from "./ObjectAnswer.js"
import { Observer } from "./Observer.js"
import * as StorageCors from "./StorageCors.js"
import * as StorageRefused from "./StorageRefused.js"
import * as StorageRequest from "./StorageRequest.js"
import * as UrlVerifier from "./UrlVerifier.js"

/**
 * How storage answers. All options have defaults.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Partial<StorageCors.Settings> {
  /** Headers of every response to a PUT, such as the encryption that a real store names. Defaults to none. */
  readonly putHeaders?: Readonly<Record<string, string>> | undefined
  /**
   * Whether a URL of a single PUT that is still valid can replace the bytes of an upload that is over, as it can at a plain
   * store. Defaults to no.
   */
  readonly overwrites?: boolean | undefined
}

/** The headers of the answer that a URL has signed, such as `response-content-type`. */
const wished = (query: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      name.startsWith("response-") ? [[name.slice("response-".length), value]] : []
    )
  )

const KEY = /^files\/([^/]+)\/([^/]+)$/

/**
 * Storage as an app. A PUT that ends when its upload is being completed, or over, is refused, whenever it began: a URL that is
 * still valid cannot change a file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  signing: Pick<Signing, "credential" | "bucket">,
  options: Options = {}
): Effect.Effect<HttpApp.Default, never, FileStore | FileTable> =>
  Effect.gen(function*() {
    const store = yield* FileStore
    const table = yield* FileTable
    const cors: StorageCors.Settings = { cors: options.cors ?? { exposeEtag: true } }

    const checkWaiting = (key: string) =>
      Effect.gen(function*() {
        const [, tenant = "", id = ""] = KEY.exec(key) ?? []
        const row = yield* table.find(decodeURIComponent(tenant), id)
        return Option.isSome(row) && row.value.state === "waiting"
      }).pipe(
        Effect.catchTag("TableFailed", () => StorageRefused.make("ServiceUnavailable")),
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
          const isWanted = options.overwrites === true ? Effect.void : checkWaiting(key)
          yield* isWanted
          // again when the bytes have come: what was right before them may be over
          return yield* store.put(key, Stream.concat(body, Stream.drain(Stream.fromEffect(isWanted))), {
            contentType: request.headers["content-type"]
          })
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
            return HttpServerResponse.empty({ status: 200, headers: { ...options.putHeaders, etag } })
          }
          case "GET":
          case "HEAD":
            return HttpServerResponse.setHeaders(
              yield* ObjectAnswer.make(request.headers, yield* store.head(key), store),
              wished(verified.query)
            )
          default:
            return yield* StorageRefused.make("MethodNotAllowed", { details: { Method: request.method } })
        }
      })

    return Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const requestId = yield* Identifiers.requestId
      const answer = yield* handle(request).pipe(
        Effect.catchTag("StorageRefused", (refusal) =>
          Effect.as(
            Effect.flatMap(Observer, ({ refused }) => refused(refusal)),
            HttpServerResponse.text(StorageRefused.toXml(refusal, requestId), {
              status: refusal.status,
              contentType: "application/xml"
            })
          )),
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
