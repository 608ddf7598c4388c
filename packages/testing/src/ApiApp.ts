/**
 * The service: an HTTP app with every endpoint of the contract.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as ApiRequest from "@stevedore/server/ApiRequest"
import { keyOf } from "@stevedore/server/Files"
import * as ListQuery from "@stevedore/server/ListQuery"
import * as ListResources from "@stevedore/server/ListResources"
import type { ListRecord } from "@stevedore/server/ListResources"
import * as ObjectAnswer from "@stevedore/server/ObjectAnswer"
import type * as ObjectStore from "@stevedore/server/ObjectStore"
import * as RateWindow from "@stevedore/server/RateWindow"
import * as ServiceRefused from "@stevedore/server/ServiceRefused"
import type * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Connection from "./Connection.js"
import type * as Exchange from "./Exchange.js"
import * as ExchangeRunner from "./ExchangeRunner.js"
import * as Fault from "./Fault.js"
import { named } from "./internal/named.js"
import * as ListPage from "./ListPage.js"
import type { Settings } from "./SandboxOptions.js"
import type * as SandboxRecorder from "./SandboxRecorder.js"
import type * as SandboxUploads from "./SandboxUploads.js"

const refusalAnswer = (refusal: ServiceRefused.ServiceRefused): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ errors: refusal.errors }, {
    status: refusal.status,
    headers: refusal.retryAfter === undefined ? {} : { "retry-after": refusal.retryAfter }
  })

const server: ExchangeRunner.Server = {
  name: "api",
  requestIdHeader: "x-request-id",
  refuse: ({ code, retryAfter, status }) => refusalAnswer(ServiceRefused.fromStatus(status, code, retryAfter))
}

const json = (body: unknown, status = 200) => HttpServerResponse.unsafeJson(body, { status })

const envelope = (data: unknown, status = 200) => json({ data }, status)

type Refusal = ServiceRefused.ServiceRefused | StorageRefused.StorageRefused | Connection.ConnectionBroken

type Endpoint = (
  tools: ExchangeRunner.Tools,
  id: string
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal>

const textOf = (body: ExchangeRunner.Tools["body"]) => Stream.mkString(Stream.decodeText(body))

const searchOf = (url: string): string => {
  const mark = url.indexOf("?")
  return mark === -1 ? "" : url.slice(mark + 1)
}

const noteUnknownFields = (tools: ExchangeRunner.Tools, fields: ReadonlyArray<string>) =>
  Effect.sync(() => {
    if (fields.length > 0) {
      tools.recording.breach("UnknownInitiateFields", `Unknown fields: ${fields.join(", ")}`)
    }
  })

const isAscending = (parts: ReadonlyArray<{ readonly partNumber: number }>): boolean =>
  parts.every(({ partNumber }, index) => partNumber > (parts[index - 1]?.partNumber ?? 0))

/**
 * The parts that the app is built from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Parts {
  readonly settings: Settings
  readonly uploads: SandboxUploads.SandboxUploads
  readonly store: ObjectStore.ObjectStoreService
  readonly recorder: SandboxRecorder.SandboxRecorder
}

const makeEndpoints = ({ settings, store, uploads }: Parts) => {
  const { completeUploadBody, fields } = settings

  const resource = (value: unknown, status = 200) =>
    settings.envelope === "data" ? envelope(value, status) : json(value, status)

  const initiate: Endpoint = (tools) =>
    Effect.gen(function*() {
      const { unknownFields, value } = yield* ApiRequest.parseInitiate(yield* textOf(tools.body), fields)
      yield* noteUnknownFields(tools, unknownFields)
      const { fileId, uploadUrl } = yield* uploads.initiate(value)
      tools.recording.declared(fileId, value.type)
      return resource(named([[fields.fileId, fileId], ["upload_url", uploadUrl]]), 201)
    })

  const initiateLarge: Endpoint = (tools) =>
    Effect.gen(function*() {
      const { unknownFields, value } = yield* ApiRequest.parseInitiateLarge(yield* textOf(tools.body), fields)
      yield* noteUnknownFields(tools, unknownFields)
      const { fileId, uploadId, urls } = yield* uploads.initiateLarge(value.declared, value.parts)
      return resource(
        named([
          [fields.fileId, fileId],
          ["upload_id", uploadId],
          [
            "urls",
            settings.partUrls === "strings"
              ? urls
              : urls.map((url, index) => named([[fields.partUrl, url], [fields.partNumber, index + 1]]))
          ],
          ...(fields.partSize === undefined
            ? []
            : [[fields.partSize, Math.ceil(value.declared.size / urls.length)] as const])
        ]),
        201
      )
    })

  const noteProgress = (tools: ExchangeRunner.Tools, id: string) =>
    Effect.map(uploads.progress(id), (progress) => {
      if (progress !== undefined && progress.stored < progress.expected) {
        tools.recording.breach(
          "CompleteBeforeAllParts",
          progress.expected === 1
            ? "No bytes are stored"
            : `${progress.stored} of ${progress.expected} parts are stored`
        )
      }
      return progress
    })

  const complete: Endpoint = (tools, id) =>
    Effect.gen(function*() {
      if (completeUploadBody !== "none") {
        yield* ApiRequest.checkComplete(yield* textOf(tools.body), completeUploadBody)
      }
      yield* noteProgress(tools, id)
      const file = yield* uploads.complete(id)
      tools.recording.finalized()
      return resource(file)
    })

  const completeLarge: Endpoint = (tools, id) =>
    Effect.gen(function*() {
      const { parts, uploadId } = yield* ApiRequest.parseCompleteLarge(yield* textOf(tools.body), fields)
      const progress = yield* noteProgress(tools, id)
      if (progress?.stored === progress?.expected && parts.length < (progress?.expected ?? 0)) {
        tools.recording.breach("PartsLeftOut", `${parts.length} of ${progress?.expected} parts are listed`)
      }
      if (!isAscending(parts)) {
        tools.recording.breach("PartsOutOfOrder", "The parts are not in ascending order, each once")
      }
      // a store that serves its own URLs responds to the client directly, so the sandbox does not know the etags
      if (store.presign === undefined) {
        tools.recording.listed(parts)
      }
      const file = yield* uploads.completeLarge(id, uploadId, parts)
      tools.recording.finalized()
      return resource(file)
    })

  const file: Endpoint = (_, id) => Effect.map(uploads.file(id), (record) => resource(record))

  const download: Endpoint = (tools, id) =>
    Effect.gen(function*() {
      if (settings.download === "content") {
        yield* uploads.file(id)
        return yield* ObjectAnswer.make(
          tools.request.headers,
          yield* store.head(keyOf(id)),
          store
        )
      }
      const url = yield* uploads.downloadUrl(id)
      return settings.download === "link"
        ? resource(named([[fields.downloadUrl, url]]))
        : HttpServerResponse.redirect(url)
    })

  const tokenInfo: Endpoint = () =>
    Effect.succeed(resource({ id: ListResources.seedId("Token", 1), subdomain: "sandbox" }))

  const projects = typeof settings.projects === "number"
    ? ListResources.seedProjects(settings.projects)
    : settings.projects

  const lists = new Map<string, ReadonlyArray<ListRecord>>([["projects", projects], ...Object.entries(settings.lists)])

  let changes = 0

  const makePage = (path: string, query: ListQuery.ListQuery, fault: Option.Option<Fault.Fault>) =>
    Either.gen(function*() {
      const found = Option.getOrUndefined(Option.filter(fault, Fault.isPageFault))
      const records = lists.get(path) ?? []
      if (found === undefined) {
        return yield* ListPage.make(records, query, settings.largestPage)
      }
      const changed = yield* ListPage.changeList(records, query, found, changes += 1)
      lists.set(path, changed)
      const largest = found._tag === "ShortPage" ? found.items : settings.largestPage
      const page = yield* ListPage.make(changed, query, Math.min(largest, settings.largestPage))
      return yield* ListPage.applyFault(page, query, found)
    })

  const list = (name: string, resource: ListResources.Resource): Endpoint => (tools, id) =>
    Effect.gen(function*() {
      const query = yield* ListQuery.parse(resource, name, searchOf(tools.request.url))
      const answer = yield* makePage(name.replace("{id}", id), query, tools.fault)
      return resource.deprecated
        ? HttpServerResponse.setHeaders(json(answer), {
          deprecation: "true",
          link: `<${settings.apiOrigin}${settings.apiBasePath}/v1/docs>; rel="successor-version"`
        })
        : json(answer)
    })

  const importFile: Endpoint = (tools) =>
    Effect.gen(function*() {
      const { fields, file_id, project_id, title } = yield* ApiRequest.parseImport(yield* textOf(tools.body))
      const file = yield* uploads.file(file_id)
      const entries = lists.get("data") ?? []
      const entry = {
        id: ListResources.seedId("Data", entries.length + 1),
        type: "file",
        title: title ?? file.name,
        project: { id: project_id, title: project_id },
        folder: null,
        created_at: new Date(tools.serverTime).toISOString(),
        deleted: false,
        file_id,
        fields: fields ?? []
      }
      lists.set("data", [...entries, entry])
      return resource(entry, 201)
    })

  return { importFile, initiate, initiateLarge, complete, completeLarge, file, download, tokenInfo, list }
}

const routed = (path: string): HttpRouter.PathInput => `/${path.slice(1).replace("{file_id}", ":id")}`

const isContinued = (url: string): boolean => new URLSearchParams(searchOf(url)).has("page[start_cursor]")

/**
 * The service as an app. It fails where a fault script breaks the connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (parts: Parts): Effect.Effect<HttpApp.Default<Connection.ConnectionBroken>> => {
  const { recorder, settings } = parts
  const run = ExchangeRunner.make(settings, recorder, server)
  const endpoints = makeEndpoints(parts)
  const admit = settings.rateLimit === undefined ? undefined : RateWindow.make(settings.rateLimit)
  const authorization = `Bearer ${Redacted.value(settings.token)}`

  const guarded = (endpoint: Endpoint, id: string) => (tools: ExchangeRunner.Tools) => {
    const known = tools.request.headers["authorization"] === authorization
    const admission = known ? admit?.(tools.serverTime) : undefined
    const answer = Effect.gen(function*() {
      if (!known) {
        return yield* ServiceRefused.make(401, "Unauthorized")
      }
      if (admission?.admitted === false) {
        return yield* ServiceRefused.make(429, "TooManyRequests", { retryAfter: String(admission.retryAfter) })
      }
      return yield* endpoint(tools, id)
    })
    return answer.pipe(
      Effect.catchTags({
        ServiceRefused: (refusal) => Effect.succeed(refusalAnswer(refusal)),
        StorageRefused: (refusal) =>
          Effect.succeed(
            refusal.status === 412 || refusal.status === 416
              ? HttpServerResponse.empty({ status: refusal.status })
              : refusalAnswer(
                ServiceRefused.make(502, "BadGateway", { message: `The storage answered ${refusal.code}` })
              )
          )
      }),
      Effect.map(HttpServerResponse.setHeaders(admission?.headers ?? {}))
    )
  }

  const route = (
    method: "GET" | "POST",
    path: HttpRouter.PathInput,
    operation: Exchange.Operation,
    endpoint: Endpoint
  ) =>
    HttpRouter.makeRoute(
      method,
      path,
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { params: { id } } = yield* HttpRouter.RouteContext
        return yield* run(
          {
            operation,
            fileId: operation === "list" ? undefined : id,
            continued: operation === "list" && isContinued(request.url)
          },
          guarded(endpoint, id ?? "")
        )
      }),
      // interruptible exactly where the program that runs the app allows it
      { uninterruptible: true }
    )

  const resources = ListResources.withOthers(Object.keys(settings.lists))
  const lists = Object.entries(resources).map(([name, resource]) =>
    route("GET", `/v1/${name.replace("{id}", ":id")}`, "list", endpoints.list(name, resource))
  )

  const { paths } = settings
  const router = HttpRouter.fromIterable([
    route("POST", routed(paths.initiateUpload), "initiate", endpoints.initiate),
    route("POST", routed(paths.initiateLargeUpload), "initiateLarge", endpoints.initiateLarge),
    route("POST", routed(paths.completeUpload), "complete", endpoints.complete),
    route("POST", routed(paths.completeLargeUpload), "completeLarge", endpoints.completeLarge),
    route("GET", routed(paths.file), "file", endpoints.file),
    route("GET", routed(paths.download), "download", endpoints.download),
    route("GET", routed(paths.tokenInfo), "tokenInfo", endpoints.tokenInfo),
    route("POST", routed(paths.importFile), "importFile", endpoints.importFile),
    ...lists
  ])

  const unknown = run(
    { operation: "unknown" },
    () => Effect.succeed(refusalAnswer(ServiceRefused.notFound("This path")))
  )

  return HttpRouter.toHttpApp(
    settings.apiBasePath.startsWith("/") ? HttpRouter.prefixAll(router, `/${settings.apiBasePath.slice(1)}`) : router
  ).pipe(Effect.map(Effect.catchTag("RouteNotFound", () => unknown)))
}
