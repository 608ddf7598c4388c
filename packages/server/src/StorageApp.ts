/**
 * Storage for a service whose store cannot be reached by itself, such as a directory: an HTTP app that checks pre-signed
 * URLs, takes the bytes of an object or a part, and gives objects back, with ranges and conditions.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { logged } from "./base/requestLog.js"
import { isHeaderValue, requestIdOf } from "./base/text.js"
import type { FileStoreService, Signing } from "./FileStore.js"
import { FileStore } from "./FileStore.js"
import type { FileTableService } from "./FileTable.js"
import { FileTable } from "./FileTable.js"
import * as ObjectAnswer from "./http/objectAnswer.js"
import * as Lifecycle from "./life/lifecycle.js"
import { Observer } from "./Observer.js"
import * as StorageCors from "./parts/storageCors.js"
import * as UrlVerifier from "./parts/urlVerifier.js"
import * as StorageRequest from "./storage/request.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * How storage answers. All options have defaults.
 *
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
  /**
   * The URL by which clients reach the server of this app, such as `https://files.example/uploads`. Signatures are verified for
   * it, whatever host and path a proxy makes of it. Defaults to the `Host` of each request.
   */
  readonly publicUrl?: string | undefined
  /**
   * How many PUTs of one URL there may be at once: one that its client has given up, and the next. Defaults to 4; more are
   * refused with 503 `SlowDown`.
   */
  readonly putsPerUrl?: number | undefined
}

const WISHED = /^response-(cache-control|content-(?:disposition|encoding|language|type)|expires)$/

/** The headers of the answer that a URL has signed, such as `response-content-type`. */
const wished = (query: Readonly<Record<string, string>>) =>
  Effect.map(
    Effect.forEach(Object.entries(query), ([name, value]) => {
      const [, header] = WISHED.exec(name) ?? []
      return header === undefined || isHeaderValue(value)
        ? Effect.succeed(header === undefined ? [] : [[header, value] as const])
        : StorageRefused.make("InvalidArgument", {
          reason: "Expected visible characters of ASCII",
          details: { ArgumentName: name }
        })
    }),
    (headers) => Object.fromEntries(headers.flat())
  )

/** The request as its client has sent it, before a proxy. */
const asSent = (
  { headers, method, url }: HttpServerRequest.HttpServerRequest,
  publicUrl: string | undefined
): UrlVerifier.ReceivedRequest => {
  if (publicUrl === undefined) return { method, target: url, headers }
  const { host, pathname } = new URL(publicUrl)
  return { method, target: `${pathname.replace(/\/+$/, "")}${url}`, headers: { ...headers, host } }
}

const KEY = /^files\/([^/]+)\/([^/]+)$/

/** The tenant and the file that a key names. */
const namedBy = (key: string) => {
  const [, tenant, id] = KEY.exec(key) ?? []
  return tenant === undefined || id === undefined ? undefined : { tenant: decodeURIComponent(tenant), id }
}

/** The parts of an app of storage, which its steps share. */
interface State {
  readonly store: FileStoreService
  readonly table: FileTableService
  readonly signing: Pick<Signing, "credential" | "bucket" | "path">
  readonly options: Options
  readonly cors: StorageCors.Settings
  /** How many PUTs there are at each URL. */
  readonly puts: Map<string, number>
}

/** Whether the bytes of an upload may still come. */
const checkWaiting = ({ options, table }: State, key: string) =>
  options.overwrites === true ? Effect.void : Effect.gen(function*() {
    const { id = "", tenant = "" } = namedBy(key) ?? {}
    const row = yield* table.find(tenant, id)
    if (!Option.exists(row, ({ state }) => Lifecycle.meanings[state].takesBytes)) {
      return yield* StorageRefused.make("AccessDenied", { reason: "The upload is over" })
    }
  }).pipe(Effect.catchTag("TableFailed", () => StorageRefused.make("ServiceUnavailable")))

/** Within the number of PUTs that one URL may have. */
const amongFew = <A, E, R>({ options, puts }: State, url: string, effect: Effect.Effect<A, E, R>) => {
  const counted = (change: number) =>
    Effect.sync(() => {
      const count = (puts.get(url) ?? 0) + change
      if (count === 0) puts.delete(url)
      else puts.set(url, count)
      return count
    })
  return Effect.acquireUseRelease(
    counted(1),
    (count): Effect.Effect<A, E | StorageRefused.StorageRefused, R> =>
      count > (options.putsPerUrl ?? 4) ? StorageRefused.make("SlowDown") : effect,
    () => counted(-1)
  )
}

/** Of so few bytes it is enough to know when they have come whether they are wanted: they are held until then. */
const FEW_BYTES = 64 * 1024

const put = (
  state: State,
  request: HttpServerRequest.HttpServerRequest,
  key: string,
  { partNumber, uploadId }: Readonly<Record<string, string>>
) =>
  Effect.gen(function*() {
    const { store } = state
    const length = yield* StorageRequest.declaredLength(request.headers)
    const body = StorageRequest.ofLength(
      Stream.mapError(request.stream, () => StorageRefused.make("IncompleteBody")),
      length
    )
    if (partNumber === undefined && uploadId === undefined) {
      const isWanted = checkWaiting(state, key)
      const options = { contentType: request.headers["content-type"] }
      // when the bytes have come: what was right before them may be over
      if (length <= FEW_BYTES) {
        const bytes = yield* StorageRequest.bytesOf(request, length)
        yield* isWanted
        return yield* store.put(key, bytes, options)
      }
      yield* isWanted
      return yield* store.put(key, Stream.concat(body, Stream.drain(Stream.fromEffect(isWanted))), options)
    }
    return yield* store.putPart(key, uploadId ?? "", yield* StorageRequest.partNumber(partNumber ?? ""), body)
  })

const handle = (state: State, request: HttpServerRequest.HttpServerRequest) =>
  Effect.gen(function*() {
    const { cors, options, signing, store } = state
    const observer = yield* Observer
    yield* observer.routed(`${request.method} storage`)
    if (request.method === "OPTIONS") {
      return StorageCors.preflight(cors, request.headers) ?? (yield* StorageRefused.make("AccessForbidden"))
    }
    const verified = yield* UrlVerifier.verify(
      signing.credential,
      asSent(request, options.publicUrl),
      yield* Clock.currentTimeMillis
    )
    const key = yield* StorageRequest.keyIn(signing.bucket, verified.path.slice((signing.path ?? "").length))
    const named = namedBy(key)
    if (named !== undefined) yield* observer.authorized(named.tenant)
    switch (request.method) {
      case "PUT": {
        const { partNumber = "", uploadId = "" } = verified.query
        const url = [key, uploadId, partNumber].join()
        const { checksum, etag } = yield* amongFew(state, url, put(state, request, key, verified.query))
        return HttpServerResponse.empty({
          status: 200,
          headers: { ...options.putHeaders, ...ObjectAnswer.checksumHeader(checksum), etag }
        })
      }
      case "GET":
      case "HEAD": {
        const headers: Readonly<Record<string, string>> = yield* wished(verified.query)
        const object = yield* store.head(key)
        const told = { ...object, contentType: headers["content-type"] ?? object.contentType }
        return HttpServerResponse.setHeaders(yield* ObjectAnswer.make(request.headers, told, store), {
          ...headers,
          ...ObjectAnswer.inert
        })
      }
      default:
        return yield* StorageRefused.make("MethodNotAllowed", { details: { Method: request.method } })
    }
  })

const answerTo = (state: State, request: HttpServerRequest.HttpServerRequest) =>
  Effect.gen(function*() {
    const requestId = yield* requestIdOf(request.headers["x-request-id"])
    const { method, url } = request
    const refused = (refusal: StorageRefused.StorageRefused) =>
      HttpServerResponse.text(StorageRefused.toXml(refusal, requestId), {
        status: refusal.status,
        contentType: "application/xml"
      })
    const told = (refusal: StorageRefused.StorageRefused) =>
      Effect.zipRight(
        Effect.flatMap(Observer, (observer) => observer.refused(refusal)),
        refusal.status >= 500 ? logged({ method, url, status: refusal.status }, refusal.message) : Effect.void
      )
    const answer = yield* handle(state, request).pipe(
      Effect.catchTag("StorageRefused", (refusal) => Effect.as(told(refusal), refused(refusal))),
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.failCause(cause) : Effect.as(
          logged({ method, url, status: 500 }, cause),
          refused(StorageRefused.make("InternalError"))
        )
      )
    )
    return HttpServerResponse.setHeaders(answer, {
      "x-amz-request-id": requestId,
      ...(method === "OPTIONS" ? {} : StorageCors.answerHeaders(state.cors, request.headers["origin"]))
    })
  })

/**
 * Storage as an app. A PUT that ends when its upload is being completed, or over, is refused, whenever it began: a URL that is
 * still valid cannot change a file.
 *
 * @category constructors
 */
export const make = (
  signing: Pick<Signing, "credential" | "bucket" | "path">,
  options: Options = {}
): Effect.Effect<HttpApp.Default, never, FileStore | FileTable> =>
  Effect.gen(function*() {
    const state: State = {
      store: yield* FileStore,
      table: yield* FileTable,
      signing,
      options,
      cors: { cors: options.cors ?? { exposeEtag: true } },
      puts: new Map()
    }
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => answerTo(state, request))
  })
