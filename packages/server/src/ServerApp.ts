/** The service as an HTTP app: the routes of the interface, its errors, its lists, and its health. */
import * as FileSystem from "@effect/platform/FileSystem"
import type { Headers } from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { untilTimer } from "@stevedore/core/parts/timers"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Principal } from "./Authorize.js"
import { Authorize } from "./Authorize.js"
import { memoized } from "./base/memoized.js"
import * as ServerMetrics from "./base/metrics.js"
import { logged } from "./base/requestLog.js"
import { prefixOf } from "./base/text.js"
import type { FileStoreService } from "./FileStore.js"
import { FileStore } from "./FileStore.js"
import type { Ages, FileRow, FileTableService } from "./FileTable.js"
import { FileTable } from "./FileTable.js"
import * as ApiRequest from "./http/apiRequest.js"
import * as FileList from "./http/fileList.js"
import { named } from "./http/named.js"
import * as ObjectAnswer from "./http/objectAnswer.js"
import * as Router from "./http/router.js"
import { answered, orElseFail, unknownFile } from "./life/refusals.js"
import type { ListSourceService, Page } from "./ListSource.js"
import { ListSource, toWire } from "./ListSource.js"
import type { ObserverService } from "./Observer.js"
import { Observer } from "./Observer.js"
import type { FileRecord } from "./parts/files.js"
import { attachment } from "./parts/files.js"
import * as ListQuery from "./parts/listQuery.js"
import type { Resource } from "./parts/listResources.js"
import type { RateLimitService } from "./RateLimit.js"
import { RateLimit } from "./RateLimit.js"
import * as ServiceRefused from "./ServiceRefused.js"
import type * as StorageRefused from "./StorageRefused.js"
import * as Tokens from "./Tokens.js"
import type { ListedParts, UploadsService } from "./Uploads.js"
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
  Number(request.headers["content-length"] ?? 0) > LARGEST_BODY ? tooLarge() : untilTimer(
    request.text.pipe(
      HttpIncomingMessage.withMaxBodySize(Option.some(LARGEST_BODY)),
      // a sender that is gone waits for no answer
      Effect.mapError(tooLarge)
    ),
    Duration.decode(limit),
    Effect.suspend(() =>
      ServiceRefused.make(408, "RequestTimeout", { message: "The body of the request did not come in time" })
    )
  )

const searchOf = (url: string): string => {
  const mark = url.indexOf("?")
  return mark === -1 ? "" : url.slice(mark + 1)
}

const isId = (text: string): boolean => /^[0-9A-Za-z]{22}$/.test(text)

const routed = (path: string): Router.Route["path"] => `/${path.slice(1).replace("{file_id}", ":id")}`

/** The parts of the app, which its endpoints share. */
interface State {
  readonly uploads: UploadsService
  readonly table: FileTableService
  readonly store: FileStoreService
  readonly authorize: Authorize["Type"]
  readonly lists: ListSourceService
  readonly limit: RateLimitService
  readonly options: Options
  readonly profile: NonNullable<Options["profile"]>
  readonly prefix: ReturnType<typeof prefixOf>
}

const textOf = ({ options }: State, request: HttpServerRequest.HttpServerRequest) =>
  bodyOf(request, options.bodyTimeout ?? "30 seconds")

const resourceOf = ({ profile: { envelope } }: State, value: unknown, status = 200) =>
  HttpServerResponse.unsafeJson(
    envelope === "none" ? value : { [envelope === "either" ? "data" : envelope]: value },
    { status }
  )

const recordOf = (state: State, row: FileRow) =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => resourceOf(state, (state.options.record ?? toRecord)(row, now))
  )

const observed = (tell: (observer: ObserverService) => Effect.Effect<void>) => Effect.flatMap(Observer, tell)

const initiate = (state: State): Endpoint => (who, request) =>
  Effect.gen(function*() {
    const { fields } = state.profile
    const { unknownFields, value: file } = yield* ApiRequest.parseInitiate(yield* textOf(state, request), fields)
    const { fileId, uploadUrl } = yield* state.uploads.initiate(who, file)
    yield* observed(({ declared }) => declared({ fileId, file, urls: 1, unknownFields }))
    return resourceOf(state, named([[fields.fileId, fileId], [fields.uploadUrl, uploadUrl]]), 201)
  })

const initiateLarge = (state: State): Endpoint => (who, request) =>
  Effect.gen(function*() {
    const { options: { partUrls }, profile: { fields } } = state
    const { unknownFields, value } = yield* ApiRequest.parseInitiateLarge(yield* textOf(state, request), fields)
    const { declared: file, parts } = value
    const { fileId, uploadId, urls } = yield* state.uploads.initiateLarge(who, file, parts)
    yield* observed(({ declared }) => declared({ fileId, file, urls: urls.length, unknownFields }))
    const parted = partUrls === "objects"
      ? urls.map((url, index) => named([[fields.partUrl, url], [fields.partNumber, index + 1]]))
      : urls
    return resourceOf(
      state,
      named([
        [fields.fileId, fileId],
        [fields.uploadId, uploadId],
        [fields.urls, parted],
        ...(fields.partSize === undefined ? [] : [[fields.partSize, Math.ceil(file.size / urls.length)] as const])
      ]),
      201
    )
  })

const completed = (state: State, who: Principal, fileId: string, listed: ListedParts | undefined) =>
  Effect.gen(function*() {
    yield* observed(({ asked }) => asked({ fileId, parts: listed?.parts }))
    const row = yield* state.uploads.complete(who, fileId, listed)
    yield* observed(({ completed }) => completed(fileId))
    return yield* recordOf(state, row)
  })

const complete = (state: State): Endpoint => (who, request, id) =>
  Effect.gen(function*() {
    const { completeUploadBody } = state.profile
    if (completeUploadBody !== "none") {
      yield* ApiRequest.checkComplete(yield* textOf(state, request), completeUploadBody)
    }
    return yield* completed(state, who, id, undefined)
  })

const completeLarge = (state: State): Endpoint => (who, request, id) =>
  Effect.gen(function*() {
    const text = yield* textOf(state, request)
    // before its list is read
    yield* orElseFail(answered(state.table.find(who.tenant, id)), unknownFile)
    const listed = yield* ApiRequest.parseCompleteLarge(text, state.profile.fields)
    return yield* completed(state, who, id, listed)
  })

const file = (state: State): Endpoint => (who, _, id) =>
  Effect.flatMap(state.uploads.file(who, id), (row) => recordOf(state, row))

const remove = ({ uploads }: State): Endpoint => (who, _, id) =>
  Effect.as(uploads.remove(who, id), HttpServerResponse.empty())

/** The bytes of a file; whatever was stored under its key since is not this file. */
const content = ({ options, store }: State, row: FileRow, headers: Headers) =>
  Effect.gen(function*() {
    const object = yield* store.head(row.key, row)
    if (options.overwrites !== true && row.etag !== undefined && object.etag !== row.etag) {
      return yield* ServiceRefused.make(409, "Conflict", { message: "What is stored is not what was completed" })
    }
    // what was declared, whatever its PUT has said
    const contentType = row.mediaType ?? object.contentType ?? "application/octet-stream"
    return HttpServerResponse.setHeaders(yield* ObjectAnswer.make(headers, { ...object, contentType }, store), {
      "content-disposition": attachment(row.name),
      ...ObjectAnswer.inert
    })
  })

const download = (state: State): Endpoint => (who, request, id) =>
  Effect.gen(function*() {
    const { options, profile: { fields }, uploads } = state
    const row = yield* uploads.finalized(who, id)
    switch (options.download) {
      case "link":
        return resourceOf(state, named([[fields.downloadUrl, yield* uploads.downloadUrl(row)]]))
      case "redirect":
        return HttpServerResponse.redirect(yield* uploads.downloadUrl(row))
      default:
        return yield* content(state, row, request.headers)
    }
  })

const tokenInfo = (state: State): Endpoint => (who) =>
  Effect.succeed(resourceOf(state, { id: who.id, subdomain: who.tenant }))

const list = (
  { prefix }: State,
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

const importFile = (state: State): Endpoint => (who, request) =>
  Effect.gen(function*() {
    const { fields, file_id, project_id, title } = yield* ApiRequest.parseImport(yield* textOf(state, request))
    const file = yield* state.uploads.finalized(who, file_id)
    const imported = state.lists.importFile?.(who, { file, projectId: project_id, title, fields: fields ?? [] })
    return imported === undefined
      ? yield* ServiceRefused.notFound("This path")
      : resourceOf(state, yield* imported, 201)
  })

/** The answer to whom the limit lets pass, and who may ask for it; what is refused says the limit too. */
const limited = (
  { limit }: State,
  who: Principal,
  request: HttpServerRequest.HttpServerRequest,
  scope: Tokens.Scope,
  endpoint: ReturnType<Endpoint>
) =>
  Effect.gen(function*() {
    const admission = Option.getOrUndefined(yield* limit(who.tenant))
    const allowed: ReturnType<Endpoint> = admission?.admitted === false
      ? ServiceRefused.make(429, "TooManyRequests", { retryAfter: String(admission.retryAfter) })
      : who.scopes.includes(scope)
      ? endpoint
      : ServiceRefused.make(403, "Forbidden")
    return yield* allowed.pipe(
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
  })

const guarded = (
  state: State,
  scope: Tokens.Scope,
  endpoint: Endpoint,
  id: string,
  request: HttpServerRequest.HttpServerRequest
) =>
  Effect.gen(function*() {
    const who = yield* state.authorize(request.headers)
    yield* observed(({ authorized }) => authorized(who.tenant))
    if (!Tokens.isTenant(who.tenant)) {
      return yield* ServiceRefused.make(500, "InternalError", { reason: `The tenant of ${who.id} has no valid name` })
    }
    return yield* limited(state, who, request, scope, Effect.suspend(() => endpoint(who, request, id)))
  }).pipe(
    Effect.catchTag("ServiceRefused", (refusal) => refused(request, refusal)),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.failCause(cause) : Effect.as(
        logged({ method: request.method, url: request.url, status: 500 }, cause),
        refusalAnswer(ServiceRefused.make(500, "InternalError"))
      )
    )
  )

const routesOf = (state: State): ReadonlyArray<Router.Route> => {
  const { lists, profile: { paths }, table } = state
  const route = (
    method: Router.Route["method"],
    path: Router.Route["path"],
    scope: Tokens.Scope,
    endpoint: Endpoint
  ): Router.Route => ({
    method,
    path,
    answer: (request, id) =>
      Effect.zipRight(
        observed(({ routed }) => routed(`${method} ${path}`)),
        guarded(state, scope, endpoint, id, request)
      )
  })
  const ofFile = (endpoint: Endpoint): Endpoint => (who, request, id) =>
    isId(id) ? endpoint(who, request, id) : ServiceRefused.notFound("This file")
  const lister = (name: string, resource: Resource, page: Parameters<typeof list>[3]) =>
    route("GET", `/v1/${name.replace("{id}", ":id")}`, "read", list(state, name, resource, page))
  return [
    route("POST", routed(paths.initiateUpload), "write", initiate(state)),
    route("POST", routed(paths.initiateLargeUpload), "write", initiateLarge(state)),
    route("POST", routed(paths.completeUpload), "write", ofFile(complete(state))),
    route("POST", routed(paths.completeLargeUpload), "write", ofFile(completeLarge(state))),
    route("GET", routed(paths.file), "read", ofFile(file(state))),
    route("DELETE", routed(paths.file), "write", ofFile(remove(state))),
    route("GET", routed(paths.download), "read", ofFile(download(state))),
    route("GET", routed(paths.tokenInfo), "read", tokenInfo(state)),
    ...(lists.importFile === undefined
      ? []
      : [route("POST", routed(paths.importFile), "write", importFile(state))]),
    ...(lists.resources["files"] === undefined
      ? [lister("files", FileList.resource, (who, _, query) => FileList.page(table, who, query))]
      : []),
    ...Object.entries(lists.resources).map(([name, resource]) =>
      lister(name, resource, (who, id, query) => lists.page(who, name, id, query))
    )
  ]
}

/** For the pages of these origins too. */
const shared = (app: HttpApp.Default, origins: ReadonlyArray<string>): HttpApp.Default =>
  origins.length === 0 ? app : HttpMiddleware.cors({
    allowedOrigins: [...origins],
    allowedMethods: ["GET", "POST", "DELETE"],
    allowedHeaders: ["authorization", "content-type", "range", "if-match", "if-range", "if-none-match", "x-request-id"],
    exposedHeaders: [
      "content-range",
      "etag",
      "retry-after",
      "x-ratelimit-limit",
      "x-ratelimit-remaining",
      "x-ratelimit-reset",
      "x-request-id"
    ]
  })(app)

const requests = memoized((status) => Metric.tagged(ServerMetrics.requests, "status", status))

/**
 * The service as an app, without its storage.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<HttpApp.Default, never, Uploads | FileTable | FileStore | Authorize> =>
  Effect.gen(function*() {
    const state: State = {
      uploads: yield* Uploads,
      table: yield* FileTable,
      store: yield* FileStore,
      authorize: yield* Authorize,
      lists: yield* ListSource,
      limit: yield* RateLimit,
      options,
      profile: options.profile ?? profile,
      prefix: prefixOf(options.basePath)
    }
    const unknownPath = refusalAnswer(ServiceRefused.notFound("This path"))
    const app = yield* Router.make(state.prefix, routesOf(state), unknownPath)
    return Effect.tap(
      shared(app, options.origins ?? []),
      ({ status }) => Metric.increment(requests(String(status)))
    )
  })

/** What is wrong, in a line; none if nothing is. What hangs is wrong too, and nobody waits for it. */
const checked = (
  what: "database" | "store" | "room",
  check: Effect.Effect<unknown, { readonly code?: string; readonly message: string }>
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.disconnect(check).pipe(
    Effect.timeoutFail({ duration: "5 seconds", onTimeout: () => ({ message: "no answer within 5 seconds" }) }),
    Effect.match({
      onSuccess: () => [],
      onFailure: ({ code, message }: { readonly code?: string; readonly message: string }) => [
        `${code === "RequestTimeTooSkewed" ? "clock" : what}: ${message}`
      ]
    })
  )

/** What is known of the clock; nothing where the database does not answer. */
const clock = Effect.flatMap(FileTable, ({ ages }) => ages).pipe(
  Effect.disconnect,
  Effect.timeout("5 seconds"),
  Effect.orElseSucceed((): Partial<Ages> => ({}))
)

/**
 * What whoever runs the service has to know, although it answers: that there is no room left, and what cannot be read of the
 * store, as far as is known, and that nothing is removed for its age. A line each.
 *
 * @category combinators
 */
export const notes: Effect.Effect<ReadonlyArray<string>, never, FileStore | FileTable> = Effect.gen(function*() {
  const store = yield* FileStore
  const room = yield* checked(
    "room",
    (store.room ?? Effect.succeed(Infinity)).pipe(
      Effect.mapError(({ message }) => ({ message: `the disk does not say what it has: ${message}` })),
      Effect.filterOrFail(
        (left) => left > 0,
        () => ({ message: "there is none, and uploads are refused until files are removed" })
      )
    )
  )
  const { doubt, isAway } = yield* clock
  const unreadable = yield* store.unreadable ?? Effect.succeed([])
  return [
    ...room,
    ...(doubt === undefined || isAway ? [] : [`clock: ${doubt}`]),
    ...unreadable.map((key) => `cannot be read: ${key}`)
  ]
})

/**
 * Why the service cannot answer, a line each, such as `database: …`; none if it can: its table and its store answer, each within
 * five seconds.
 *
 * @category combinators
 */
export const failing: Effect.Effect<ReadonlyArray<string>, never, FileTable | FileStore> = Effect.gen(function*() {
  const table = yield* FileTable
  const store = yield* FileStore
  const lines = yield* Effect.all([
    Effect.map(clock, ({ doubt, isAway }) => isAway === true ? [`clock: ${doubt}`] : []),
    checked("database", table.find("", "")),
    // nothing has this key: a store that says so answers
    checked(
      "store",
      store.ready ?? Effect.catchIf(store.head("stevedore-ready"), ({ status }) => status === 404, () => Effect.void)
    )
  ], { concurrency: "unbounded" })
  return lines.flat()
})
