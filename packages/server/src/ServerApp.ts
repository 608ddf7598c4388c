/** The service as an HTTP app: the routes of the interface, its errors, its lists, and its health. */
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as ApiRequest from "./ApiRequest.js"
import type { Principal } from "./Authorize.js"
import { Authorize } from "./Authorize.js"
import type { FileRecord } from "./Files.js"
import { attachment } from "./Files.js"
import { FileStore } from "./FileStore.js"
import type { FileRow } from "./FileTable.js"
import { FileTable } from "./FileTable.js"
import * as FileList from "./internal/fileList.js"
import { logged } from "./internal/logged.js"
import { named } from "./internal/named.js"
import { prefixOf } from "./internal/prefix.js"
import * as Router from "./internal/router.js"
import * as ListQuery from "./ListQuery.js"
import type { Resource } from "./ListResources.js"
import type { Page } from "./ListSource.js"
import { ListSource, toWire } from "./ListSource.js"
import * as ObjectAnswer from "./ObjectAnswer.js"
import type { ObserverService } from "./Observer.js"
import { Observer } from "./Observer.js"
import { RateLimit } from "./RateLimit.js"
import * as ServerMetrics from "./ServerMetrics.js"
import * as ServiceRefused from "./ServiceRefused.js"
import type * as StorageRefused from "./StorageRefused.js"
import * as Tokens from "./Tokens.js"
import type { ListedParts } from "./Uploads.js"
import { toRecord, Uploads } from "./Uploads.js"

/**
 * How the app answers. All options have defaults.
 *
 * @category models
 */
export interface Options {
  /** What stands before every path of the interface, such as `/api`. Defaults to nothing. */
  readonly basePath?: string | undefined
  /**
   * What a download returns: the bytes themselves (`content`, the default), or JSON with a pre-signed URL (`link`) or a
   * redirect to it, so that no bytes go through the service. The profile of the clients must say whether it is a `link`.
   */
  readonly download?: "content" | "link" | "redirect" | undefined
  /**
   * The names and paths of the interface that the contract leaves open, as the profile of the clients has them. Of several
   * names for one field the service sends the first. Defaults to {@link profile}.
   */
  readonly profile?:
    | Pick<ServiceProfile.ServiceProfile, "completeUploadBody" | "envelope" | "fields" | "paths">
    | undefined
  /** The elements of `urls`: strings (default), or objects with the profile's `partUrl` and `partNumber`. */
  readonly partUrls?: "strings" | "objects" | undefined
  /**
   * Whether a file can be downloaded whose bytes were replaced through a URL that was still valid. Defaults to no: it is no
   * longer what was completed.
   */
  readonly overwrites?: boolean | undefined
  /** The record of a file, as sent on the wire. Defaults to `Uploads.toRecord`. `now` is in milliseconds. */
  readonly record?: ((row: FileRow, now: number) => FileRecord) | undefined
  /** How long the body of a call may take. Defaults to 30 seconds. */
  readonly bodyTimeout?: Duration.DurationInput | undefined
  /** The origins whose pages may use the service. Defaults to none. */
  readonly origins?: ReadonlyArray<string> | undefined
}

/**
 * The profile of clients whose service is this one: the standard profile, and metadata in the field `metadata` of both
 * initiate calls, which is an addition to the interface.
 *
 * @category constants
 */
export const profile: ServiceProfile.ServiceProfile = ServiceProfile.extend(ServiceProfile.standard, {
  fields: { metadata: "metadata" }
})

// ten thousand parts with an etag each are a little over one
const LARGEST_BODY = FileSystem.MiB(4)

const refusalAnswer = ({
  errors,
  retryAfter,
  status
}: ServiceRefused.ServiceRefused): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ errors }, {
    status,
    headers: {
      ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
      ...(status === 401 ? { "www-authenticate": "Bearer realm=\"stevedore\"" } : {})
    }
  })

const refused = ({ method, url }: HttpServerRequest.HttpServerRequest, refusal: ServiceRefused.ServiceRefused) =>
  Effect.as(
    refusal.status >= 500
      ? logged({ method, url, status: refusal.status }, refusal.reason ?? refusal.message)
      : Effect.void,
    refusalAnswer(refusal)
  )

type Refusal = ServiceRefused.ServiceRefused | StorageRefused.StorageRefused

type Endpoint = (
  who: Principal,
  request: HttpServerRequest.HttpServerRequest,
  id: string
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal>

const tooLarge = () =>
  ServiceRefused.make(413, "ContentTooLarge", { message: `A body has at most ${LARGEST_BODY} bytes` })

const bodyOf = (request: HttpServerRequest.HttpServerRequest, limit: Duration.DurationInput) =>
  // not even begun: its sender is still there for the answer
  Number(request.headers["content-length"] ?? 0) > LARGEST_BODY ? tooLarge() : request.text.pipe(
    HttpIncomingMessage.withMaxBodySize(Option.some(LARGEST_BODY)),
    // a sender that is gone waits for no answer
    Effect.mapError(tooLarge),
    Effect.interruptible,
    Effect.timeoutFail({
      duration: limit,
      onTimeout: () =>
        ServiceRefused.make(408, "RequestTimeout", { message: "The body of the request did not come in time" })
    })
  )

const searchOf = (url: string): string => {
  const mark = url.indexOf("?")
  return mark === -1 ? "" : url.slice(mark + 1)
}

const isId = (text: string): boolean => /^[0-9A-Za-z]{22}$/.test(text)

const routed = (path: string): Router.Route["path"] => `/${path.slice(1).replace("{file_id}", ":id")}`

/**
 * The service as an app, without its storage.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<HttpApp.Default, never, Uploads | FileTable | FileStore | Authorize> =>
  Effect.gen(function*() {
    const uploads = yield* Uploads
    const table = yield* FileTable
    const store = yield* FileStore
    const authorize = yield* Authorize
    const lists = yield* ListSource
    const limit = yield* RateLimit
    const { completeUploadBody, envelope, fields, paths } = options.profile ?? profile
    const prefix = prefixOf(options.basePath)
    const toRecordAt = options.record ?? toRecord

    const textOf = (request: HttpServerRequest.HttpServerRequest) =>
      bodyOf(request, options.bodyTimeout ?? "30 seconds")

    const resource = (value: unknown, status = 200) =>
      HttpServerResponse.unsafeJson(
        envelope === "none" ? value : { [envelope === "either" ? "data" : envelope]: value },
        { status }
      )

    const recordOf = (row: FileRow) => Effect.map(Clock.currentTimeMillis, (now) => resource(toRecordAt(row, now)))

    const observed = (tell: (observer: ObserverService) => Effect.Effect<void>) => Effect.flatMap(Observer, tell)

    const initiate: Endpoint = (who, request) =>
      Effect.gen(function*() {
        const { unknownFields, value: file } = yield* ApiRequest.parseInitiate(yield* textOf(request), fields)
        const { fileId, uploadUrl } = yield* uploads.initiate(who, file)
        yield* observed(({ declared }) => declared({ fileId, file, urls: 1, unknownFields }))
        return resource(named([[fields.fileId, fileId], ["upload_url", uploadUrl]]), 201)
      })

    const initiateLarge: Endpoint = (who, request) =>
      Effect.gen(function*() {
        const { unknownFields, value } = yield* ApiRequest.parseInitiateLarge(yield* textOf(request), fields)
        const { declared: file, parts } = value
        const { fileId, uploadId, urls } = yield* uploads.initiateLarge(who, file, parts)
        yield* observed(({ declared }) => declared({ fileId, file, urls: urls.length, unknownFields }))
        return resource(
          named([
            [fields.fileId, fileId],
            ["upload_id", uploadId],
            [
              "urls",
              options.partUrls === "objects"
                ? urls.map((url, index) => named([[fields.partUrl, url], [fields.partNumber, index + 1]]))
                : urls
            ],
            ...(fields.partSize === undefined ? [] : [[fields.partSize, Math.ceil(file.size / urls.length)] as const])
          ]),
          201
        )
      })

    const completed = (who: Principal, fileId: string, listed: ListedParts | undefined) =>
      Effect.gen(function*() {
        yield* observed(({ asked }) => asked({ fileId, parts: listed?.parts }))
        const row = yield* uploads.complete(who, fileId, listed)
        yield* observed(({ completed }) => completed(fileId))
        return yield* recordOf(row)
      })

    const complete: Endpoint = (who, request, id) =>
      Effect.gen(function*() {
        if (completeUploadBody !== "none") {
          yield* ApiRequest.checkComplete(yield* textOf(request), completeUploadBody)
        }
        return yield* completed(who, id, undefined)
      })

    const completeLarge: Endpoint = (who, request, id) =>
      Effect.gen(function*() {
        return yield* completed(who, id, yield* ApiRequest.parseCompleteLarge(yield* textOf(request), fields))
      })

    const file: Endpoint = (who, _, id) => Effect.flatMap(uploads.file(who, id), recordOf)

    const remove: Endpoint = (who, _, id) => Effect.as(uploads.remove(who, id), HttpServerResponse.empty())

    const download: Endpoint = (who, request, id) =>
      Effect.gen(function*() {
        const row = yield* uploads.finalized(who, id)
        if (options.download === "link") {
          return resource(named([[fields.downloadUrl, yield* uploads.downloadUrl(row)]]))
        }
        if (options.download === "redirect") return HttpServerResponse.redirect(yield* uploads.downloadUrl(row))
        const object = yield* store.head(row.key, row)
        // whatever was stored under its key since is not this file
        if (options.overwrites !== true && row.etag !== undefined && object.etag !== row.etag) {
          return yield* ServiceRefused.make(409, "Conflict", { message: "What is stored is not what was completed" })
        }
        return HttpServerResponse.setHeaders(
          yield* ObjectAnswer.make(request.headers, {
            ...object,
            // what was declared, whatever its PUT has said
            contentType: row.mediaType ?? object.contentType ?? "application/octet-stream"
          }, store),
          {
            "content-disposition": attachment(row.name),
            "x-content-type-options": "nosniff"
          }
        )
      })

    const tokenInfo: Endpoint = (who) => Effect.succeed(resource({ id: who.id, subdomain: who.tenant }))

    const list = (
      name: string,
      resource: Resource,
      page: (
        who: Principal,
        id: string,
        query: ListQuery.ListQuery
      ) => Effect.Effect<Page, ServiceRefused.ServiceRefused>
    ): Endpoint =>
    (who, request, id) =>
      Effect.gen(function*() {
        const query = yield* ListQuery.parse(resource, name, searchOf(request.url))
        const answer = HttpServerResponse.unsafeJson(
          toWire(yield* page(who, id, query), query.startCursor === undefined)
        )
        return resource.deprecated
          ? HttpServerResponse.setHeaders(answer, {
            deprecation: "true",
            link: `<${prefix}/v1/docs>; rel="successor-version"`
          })
          : answer
      })

    const importFile: Endpoint = (who, request) =>
      Effect.gen(function*() {
        const { fields, file_id, project_id, title } = yield* ApiRequest.parseImport(yield* textOf(request))
        const file = yield* uploads.finalized(who, file_id)
        const imported = lists.importFile?.(who, { file, projectId: project_id, title, fields: fields ?? [] })
        return imported === undefined
          ? yield* ServiceRefused.notFound("This path")
          : resource(yield* imported, 201)
      })

    const guarded = (
      scope: Tokens.Scope,
      endpoint: Endpoint,
      id: string,
      request: HttpServerRequest.HttpServerRequest
    ) =>
      Effect.gen(function*() {
        const who = yield* authorize(request.headers)
        if (!Tokens.isTenant(who.tenant)) {
          return yield* ServiceRefused.make(500, "InternalError", {
            reason: `The tenant of ${who.id} has no valid name`
          })
        }
        const admission = Option.getOrUndefined(yield* limit(who.tenant))
        const answer = Effect.gen(function*() {
          if (admission?.admitted === false) {
            return yield* ServiceRefused.make(429, "TooManyRequests", { retryAfter: String(admission.retryAfter) })
          }
          if (!who.scopes.includes(scope)) return yield* ServiceRefused.make(403, "Forbidden")
          return yield* endpoint(who, request, id)
        })
        return yield* answer.pipe(
          Effect.catchTags({
            ServiceRefused: (refusal) => refused(request, refusal),
            StorageRefused: (refusal) =>
              refusal.status === 412 || refusal.status === 416
                ? Effect.succeed(HttpServerResponse.empty({ status: refusal.status }))
                : refused(
                  request,
                  refusal.status >= 500 ? ServiceRefused.unavailable(refusal) : ServiceRefused.notFound("This file")
                )
          }),
          Effect.map(HttpServerResponse.setHeaders(admission?.headers ?? {}))
        )
      }).pipe(
        Effect.catchTag("ServiceRefused", (refusal) => refused(request, refusal)),
        Effect.catchAllCause((cause) =>
          Cause.isInterruptedOnly(cause) ? Effect.failCause(cause) : Effect.as(
            logged({ method: request.method, url: request.url, status: 500 }, cause),
            refusalAnswer(ServiceRefused.make(500, "InternalError"))
          )
        )
      )

    const route = (
      method: Router.Route["method"],
      path: Router.Route["path"],
      scope: Tokens.Scope,
      endpoint: Endpoint,
      isOfFile = false
    ): Router.Route => ({
      method,
      path,
      answer: (request, id) =>
        guarded(scope, isOfFile && !isId(id) ? () => ServiceRefused.notFound("This file") : endpoint, id, request)
    })

    const ownFiles = route(
      "GET",
      "/v1/files",
      "read",
      list("files", FileList.resource, (who, _, query) => FileList.page(table, who, query))
    )

    const routes = [
      route("POST", routed(paths.initiateUpload), "write", initiate),
      route("POST", routed(paths.initiateLargeUpload), "write", initiateLarge),
      route("POST", routed(paths.completeUpload), "write", complete, true),
      route("POST", routed(paths.completeLargeUpload), "write", completeLarge, true),
      route("GET", routed(paths.file), "read", file, true),
      route("DELETE", routed(paths.file), "write", remove, true),
      route("GET", routed(paths.download), "read", download, true),
      route("GET", routed(paths.tokenInfo), "read", tokenInfo),
      ...(lists.importFile === undefined ? [] : [route("POST", routed(paths.importFile), "write", importFile)]),
      ...(lists.resources["files"] === undefined ? [ownFiles] : []),
      ...Object.entries(lists.resources).map(([name, resource]) =>
        route(
          "GET",
          `/v1/${name.replace("{id}", ":id")}`,
          "read",
          list(name, resource, (who, id, query) => lists.page(who, name, id, query))
        )
      )
    ]

    const app = yield* Router.make(prefix, routes, refusalAnswer(ServiceRefused.notFound("This path")))
    const shared = (options.origins ?? []).length === 0 ? app : HttpMiddleware.cors({
      allowedOrigins: [...(options.origins ?? [])],
      allowedMethods: ["GET", "POST", "DELETE"],
      allowedHeaders: ["authorization", "content-type", "range", "if-match", "if-range", "if-none-match"],
      exposedHeaders: [
        "content-range",
        "etag",
        "retry-after",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset"
      ]
    })(app)

    return Effect.tap(
      shared,
      ({ status }) => Metric.increment(Metric.tagged(ServerMetrics.requests, "status", String(status)))
    )
  })

/**
 * What cannot be read of the store, as far as is known: a line each, for whoever runs the service.
 *
 * @category combinators
 */
export const unreadable: Effect.Effect<ReadonlyArray<string>, never, FileStore> = Effect.flatMap(
  FileStore,
  (store) => Effect.map(store.unreadable ?? Effect.succeed([]), Arr.map((key) => `cannot be read: ${key}`))
)

/**
 * Whether the service can answer: its table and its store do, each within five seconds.
 *
 * @category combinators
 */
export const isReady: Effect.Effect<boolean, never, FileTable | FileStore> = Effect.gen(function*() {
  const table = yield* FileTable
  const store = yield* FileStore
  yield* table.find("", "")
  // nothing has this key: a store that says so answers
  yield* store.ready ??
    Effect.catchIf(store.head("stevedore-ready"), ({ status }) => status === 404, () => Effect.void)
}).pipe(Effect.timeout("5 seconds"), Effect.isSuccess)
