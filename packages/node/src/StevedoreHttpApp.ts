/**
 * The service for your own users' pages, as an app to mount in your server, which holds the token so that the pages do
 * not.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { FileRecord } from "@stevedore/core/FileRecord"
import * as Json from "@stevedore/core/Json"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type * as ServiceApiModule from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import type * as UploadSession from "@stevedore/core/UploadSession"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isForeign } from "./internal/appOrigin.js"
import { forPages } from "./internal/appRecord.js"
import type { Refused } from "./internal/appRefusal.js"
import * as Refusal from "./internal/appRefusal.js"
import * as Request from "./internal/appRequest.js"

/**
 * What a user wants to do. Sizes are in bytes.
 *
 * @since 0.1.0
 * @category models
 */
export type Call =
  | {
    readonly operation: "initiateUpload" | "initiateLargeUpload"
    readonly file: { readonly name: string; readonly mediaType: string; readonly size: number }
  }
  | { readonly operation: "completeUpload" | "completeLargeUpload" | "file"; readonly fileId: string }
  | { readonly operation: "list"; readonly path: string }

/**
 * An upload that the service has opened, and its file. Later calls refer to it only by this id.
 *
 * @since 0.1.0
 * @category models
 */
export interface Opened {
  readonly fileId: string
  readonly file: { readonly name: string; readonly mediaType: string; readonly size: number }
}

/**
 * Who may do what.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<User, E, R, R2 = never, E2 = never, R3 = never> {
  /** Identifies the user. Any failure results in a 401. */
  readonly authorize: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<User, E, R>
  /** Whether an authorized user may do this: `false` results in a 403. By default, everything is permitted. */
  readonly permit?: ((user: User, call: Call) => Effect.Effect<boolean, never, R2>) | undefined
  /**
   * Called for each upload that was opened for a user, before the page learns of it, to record whose it is for `permit`
   * to check. If it fails, the page gets a 500 and nothing about the upload, and the failure is logged. If the page
   * disconnects meanwhile, it is interrupted: make it `Effect.uninterruptible` if it writes in several steps.
   */
  readonly opened?: ((user: User, upload: Opened) => Effect.Effect<void, E2, R3>) | undefined
  /**
   * The lists to forward, by path, such as `/v1/projects`. They contain what the token may see, not what a user may
   * see. Defaults to none.
   */
  readonly lists?: ReadonlyArray<string> | undefined
  /**
   * The fields of records to forward besides the documented ones, such as `["folder_name"]`, at any depth. What else the
   * service puts into a record stays here: it may be a signed URL, or not meant for users. Defaults to none.
   */
  readonly forward?: ReadonlyArray<string> | undefined
  /**
   * Other origins whose pages may call, such as `https://app.example.com`: those that your CORS middleware allows, and
   * the app's own if a proxy changes the `Host` of its requests. By default, only pages of the same origin may.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /**
   * Where the app is mounted, such as `/api`, if the paths of its requests still include that. By default, it is
   * assumed to be removed already, as `HttpRouter.mountApp` does.
   */
  readonly prefix?: string | undefined
}

type Answer<R> = Effect.Effect<HttpServerResponse.HttpServerResponse, Refused | ServiceError, ServerRequest | R>

type ServerRequest = HttpServerRequest.HttpServerRequest

interface Target {
  readonly method: string
  readonly path: string
  readonly search: URLSearchParams
}

/** A call identified by its path, and how to make it once it is permitted. */
interface Route<R = never> {
  readonly call: Effect.Effect<{ readonly call: Call; readonly run: Answer<R> }, Refused, ServerRequest>
}

/** The fields to forward beside the documented ones. */
type Forward = ReadonlyArray<string>

/** What to do with an opened upload before the page learns of it. */
type Note<R> = (upload: Opened) => Effect.Effect<void, Refused, R>

const json = (
  body: unknown,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(Json.stringify(body) ?? "null", {
    contentType: "application/json",
    status: options.status ?? 200,
    headers: { ...Refusal.headersOfAll, ...options.headers }
  })

// The page checks deadlines by the service's clock, which it reads from the response's date.
const created = (
  { clockOffset }: { readonly clockOffset: number },
  data: Readonly<Record<string, unknown>>
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => json({ data }, { status: 201, headers: { date: new Date(now + clockOffset).toUTCString() } })
  )

// The paths that pages use. The service's own paths concern only this server.
const { paths } = ServiceProfile.standard

// As the service gave it: a page sends a number back as a number
const idOf = <Name extends "fileId" | "uploadId">(
  { numericIds = [], ...session }:
    & Readonly<Record<Name, string>>
    & Pick<UploadSession.UploadSession, "numericIds">,
  name: Name
): string | Json.ExactNumber => numericIds.includes(name) ? new Json.ExactNumber(session[name]) : session[name]

const initiate = <R>(service: ServiceApiModule.Service, note: Note<R>): Route<R> => ({
  call: Effect.map(Request.body(Request.Initiate(service.profile.limits)), ({ name, size, type }) => {
    const file = { name, mediaType: type, size }
    return {
      call: { operation: "initiateUpload", file },
      run: service.initiateUpload(file).pipe(
        Effect.tap(({ fileId }) => note({ fileId, file })),
        Effect.flatMap((session) =>
          created(session, { id: idOf(session, "fileId"), upload_url: PresignedUrl.reveal(session.url) })
        )
      )
    }
  })
})

const initiateLarge = <R>(service: ServiceApiModule.Service, note: Note<R>): Route<R> => ({
  call: Effect.map(Request.body(Request.InitiateLarge(service.profile.limits)), ({ name, parts, size, type }) => {
    const file = { name, mediaType: type, size }
    return {
      call: { operation: "initiateLargeUpload", file },
      run: service.initiateLargeUpload({ ...file, parts: Option.fromNullable(parts) }).pipe(
        Effect.tap(({ fileId }) => note({ fileId, file })),
        Effect.flatMap((session) =>
          created(session, {
            id: idOf(session, "fileId"),
            upload_id: idOf(session, "uploadId"),
            urls: session.urls.map(PresignedUrl.reveal),
            part_size: session.partSize
          })
        )
      )
    }
  })
})

const encodeRecord = Schema.encodeSync(FileRecord)

// All bytes are in storage, and users who see that close the page: the file must not be lost for that. It runs in its own
// fiber, because a timeout cannot end what is uninterruptible.
const toItsEnd = (completed: Effect.Effect<FileRecord, ServiceError>, forward: Forward): Answer<never> =>
  Effect.forkDaemon(Effect.exit(completed)).pipe(
    Effect.flatMap(Fiber.join),
    Effect.flatten,
    Effect.map((record) => json({ data: forPages(encodeRecord(record), forward) }))
  )

const complete = (service: ServiceApiModule.Service, fileId: string, forward: Forward): Route => ({
  call: Effect.map(
    service.profile.completeUploadBody === "none" ? Effect.succeed({}) : Request.body(Request.CompleteSingle),
    ({ etag, file_id, name, size, type }: typeof Request.CompleteSingle.Type) => ({
      call: { operation: "completeUpload", fileId },
      run: toItsEnd(
        service.completeUpload({
          fileId,
          numericIds: file_id === undefined || typeof file_id === "string" ? [] : ["fileId"],
          etag,
          size,
          name,
          mediaType: type
        }),
        forward
      )
    })
  )
})

const completeLarge = (service: ServiceApiModule.Service, fileId: string, forward: Forward): Route => ({
  call: Effect.map(Request.body(Request.CompleteLarge(service.profile.limits)), ({ parts, upload_id }) => ({
    call: { operation: "completeLargeUpload", fileId },
    run: toItsEnd(
      service.completeLargeUpload({
        fileId,
        uploadId: String(upload_id),
        numericIds: typeof upload_id === "string" ? [] : ["uploadId"],
        // nothing else about a part is sent on the wire
        parts: parts.map(({ etag, part_number }) => ({ partNumber: part_number, etag, size: 1, attempts: 1 }))
      }),
      forward
    )
  }))
})

const file = (service: ServiceApiModule.Service, fileId: string, forward: Forward): Route => ({
  call: Effect.succeed({
    call: { operation: "file", fileId },
    run: Effect.map(service.file(fileId), (record) => json({ data: forPages(encodeRecord(record), forward) }))
  })
})

const list = (
  service: ServiceApiModule.Service,
  { path, search }: Target,
  forward: Forward
): Route => ({
  call: Effect.map(Request.page(path, search, service.profile.limits), (request) => ({
    call: { operation: "list", path },
    run: Effect.map(service.listPage(request), (page) => json({ ...page, data: forPages(page.data, forward) }))
  }))
})

// Ids consist of letters and digits; a path with anything else there is not forwarded.
const fileIdIn = (template: string, path: string): string | undefined =>
  new RegExp(`^${template.replace("{file_id}", "([A-Za-z0-9_-]{1,128})")}$`).exec(path)?.[1]

const routeOf = <R>(
  service: ServiceApiModule.Service,
  target: Target,
  { forward = [], lists = [] }: { readonly forward?: Forward | undefined; readonly lists?: Forward | undefined },
  note: Note<R>
): Route<R> | undefined => {
  const { method, path } = target
  const withId = (
    template: string,
    route: (service: ServiceApiModule.Service, id: string, forward: Forward) => Route
  ) => {
    const fileId = fileIdIn(template, path)
    return fileId === undefined ? undefined : route(service, fileId, forward)
  }
  switch (method) {
    case "POST":
      if (path === paths.initiateUpload) return initiate(service, note)
      if (path === paths.initiateLargeUpload) return initiateLarge(service, note)
      return withId(paths.completeUpload, complete) ?? withId(paths.completeLargeUpload, completeLarge)
    case "GET":
      return lists.includes(path) ? list(service, target, forward) : withId(paths.file, file)
    default:
      return undefined
  }
}

// A path that starts with two slashes is still a path, not a host.
const targetOf = ({ method, url }: ServerRequest, prefix: string): Target | undefined => {
  const target = url.startsWith("/") ? `http://localhost${url}` : url
  if (!URL.canParse(target)) return undefined
  const { pathname, searchParams } = new URL(target)
  const path = prefix !== "" && pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname
  return { method, path, search: searchParams }
}

// Far less than a page waits for a response
const once = RetryPolicy.layer({ attempts: 1, longestRetryAfter: "10 seconds" })

/**
 * An app that opens and completes uploads, returns the record of a file, and walks lists, for the pages of users whom
 * `authorize` identifies. `BrowserStevedore.layer({ baseUrl: "/api" })` talks to it. The bytes do not pass through it:
 * they go directly from the page to storage. It does not serve downloads, so a page cannot read a file back through it
 * (`Uploads.readBack`).
 *
 * The token of its `ServiceApi` never leaves the server. Requests are checked before the service is called, errors have
 * the service's own envelope, and problems between server and service are logged. Retries are left to the page, also if
 * the service's rate limit would take longer than ten seconds. When a page disconnects, its call ends, except for one
 * that completes an upload. Requests that, according to the browser, come from a page of another origin are refused, also
 * those of a sibling subdomain, unless `allowedOrigins` has it.
 *
 * @example
 * import { HttpRouter, HttpServer } from "@effect/platform"
 * import { NodeHttpServer } from "@effect/platform-node"
 * import { NodeStevedore, StevedoreHttpApp } from "@stevedore/node"
 * import { Effect, Layer } from "effect"
 * import { createServer } from "node:http"
 *
 * const owners = new Map<string, string>() // in your database, so that a restart does not lose them
 *
 * const app = StevedoreHttpApp.make({
 *   authorize: () => Effect.succeed("Ada"), // here, everybody is Ada: find your user by the request's session
 *   opened: (user, { fileId }) => Effect.sync(() => owners.set(fileId, user)),
 *   permit: (user, call) => Effect.sync(() => !("fileId" in call) || owners.get(call.fileId) === user)
 * })
 *
 * const server = HttpRouter.empty.pipe(
 *   HttpRouter.mountApp("/api", app),
 *   HttpServer.serve(),
 *   Layer.provide(NodeStevedore.layerConfig()),
 *   Layer.provide(NodeHttpServer.layer(() => createServer(), { port: 8080 }))
 * )
 *
 * const main = Layer.launch(server)
 * // NodeRuntime.runMain(main)
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <User, E, R, R2 = never, E2 = never, R3 = never>(
  options: Options<User, E, R, R2, E2, R3>
): HttpApp.Default<never, ServiceApi | R | R2 | R3> => {
  const { allowedOrigins = [], authorize, opened, permit, prefix = "" } = options
  const noteFor = (user: User): Note<R3> => (upload) =>
    opened === undefined ? Effect.void : Effect.catchAll(opened(user, upload), Refusal.ofApplication)
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (isForeign(request, allowedOrigins)) return yield* Refusal.refused(403)
    const user = yield* Effect.mapError(authorize(request), () => Refusal.refused(401))
    const target = targetOf(request, prefix)
    const route = target === undefined ? undefined : routeOf(yield* ServiceApi, target, options, noteFor(user))
    if (route === undefined) return yield* Refusal.refused(404)
    const { call, run } = yield* route.call
    if (permit !== undefined && !(yield* permit(user, call))) return yield* Refusal.refused(403)
    return yield* Effect.catchAll(
      run,
      (error) => error._tag === "Refused" ? Effect.fail(error) : Refusal.fromService(error)
    )
  }).pipe(
    // A server responds 500, but does not say why
    Effect.tapDefect((cause) => Effect.logError("StevedoreHttpApp failed unexpectedly", cause)),
    Effect.provide(once),
    Effect.catchTag("Refused", (refusal) => Effect.succeed(Refusal.answer(refusal))),
    // Servers run apps uninterruptibly, and a response to a page that has disconnected would wait forever
    Effect.interruptible
  )
}
