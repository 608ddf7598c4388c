/**
 * The service for the pages of your own users, as an app to mount in your own server: it has the token, they have not.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type * as ServiceApiModule from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Refused } from "./internal/appRefusal.js"
import * as Refusal from "./internal/appRefusal.js"
import * as Request from "./internal/appRequest.js"

/**
 * What somebody wants to do. Sizes are in bytes.
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
 * An upload that the service has opened, and of which file. Later calls name it by this id alone.
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
  /** Whoever asks. When it fails, whatever the failure is, the answer is 401. */
  readonly authorize: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<User, E, R>
  /** Whether somebody who was let in may do this: `false` is answered with 403. Omitted: they may. */
  readonly permit?: ((user: User, call: Call) => Effect.Effect<boolean, never, R2>) | undefined
  /**
   * Told of each upload that was opened for somebody, before the page is: to write down whose it is, for `permit` to ask.
   * When it fails, the page gets a 500 and nothing of the upload, and the failure is told to the log.
   */
  readonly opened?: ((user: User, upload: Opened) => Effect.Effect<void, E2, R3>) | undefined
  /**
   * The lists that are passed on, by their paths, such as `/v1/projects`. What they hold is what the token may see, not
   * what a user may. Omitted: none.
   */
  readonly lists?: ReadonlyArray<string> | undefined
  /**
   * Where the app is mounted, such as `/api`, when its requests still have that before their paths. Omitted: it is taken
   * off already, as `HttpRouter.mountApp` does.
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

/** A call that is known by its path, and how it is made once it is permitted. */
interface Route<R = never> {
  readonly call: Effect.Effect<{ readonly call: Call; readonly run: Answer<R> }, Refused, ServerRequest>
}

/** What is done with an upload that was opened, before it is told to the page. */
type Note<R> = (upload: Opened) => Effect.Effect<void, Refused, R>

const json = (
  body: unknown,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson(body, {
    status: options.status ?? 200,
    headers: { "cache-control": "no-store", ...options.headers }
  })

// The page judges deadlines by the service's clock, which it reads from the answer's date.
const created = (
  { clockOffset }: { readonly clockOffset: number },
  data: Readonly<Record<string, unknown>>
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => json({ data }, { status: 201, headers: { date: new Date(now + clockOffset).toUTCString() } })
  )

// Pages know the app by these; where the service has its calls is between it and this server.
const { paths } = ServiceProfile.standard

const initiate = <R>(service: ServiceApiModule.Service, note: Note<R>): Route<R> => ({
  call: Effect.map(Request.body(Request.Initiate(service.profile.limits)), ({ name, size, type }) => {
    const file = { name, mediaType: type, size }
    return {
      call: { operation: "initiateUpload", file },
      run: service.initiateUpload(file).pipe(
        Effect.tap(({ fileId }) => note({ fileId, file })),
        Effect.flatMap((session) =>
          created(session, { id: session.fileId, upload_url: PresignedUrl.reveal(session.url) })
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
            id: session.fileId,
            upload_id: session.uploadId,
            urls: session.urls.map(PresignedUrl.reveal)
          })
        )
      )
    }
  })
})

const complete = (service: ServiceApiModule.Service, fileId: string): Route => ({
  call: Effect.succeed({
    call: { operation: "completeUpload", fileId },
    run: Effect.map(service.completeUpload({ fileId }), (data) => json({ data }))
  })
})

const completeLarge = (service: ServiceApiModule.Service, fileId: string): Route => ({
  call: Effect.map(Request.body(Request.CompleteLarge(service.profile.limits)), ({ parts, upload_id }) => ({
    call: { operation: "completeLargeUpload", fileId },
    run: service.completeLargeUpload({
      fileId,
      uploadId: upload_id,
      // what else is known of a part does not go over the wire
      parts: parts.map(({ etag, part_number }) => ({ partNumber: part_number, etag, size: 1, attempts: 1 }))
    }).pipe(Effect.map((data) => json({ data })))
  }))
})

const file = (service: ServiceApiModule.Service, fileId: string): Route => ({
  call: Effect.succeed({
    call: { operation: "file", fileId },
    run: Effect.map(service.file(fileId), (data) => json({ data }))
  })
})

const list = (service: ServiceApiModule.Service, path: string, search: URLSearchParams): Route => ({
  call: Effect.map(Request.page(path, search, service.profile.limits), (request) => ({
    call: { operation: "list", path },
    run: Effect.map(service.listPage(request), (page) => json(page))
  }))
})

// Ids are of letters and digits; whatever else a path has there is not asked for.
const fileIdIn = (template: string, path: string): string | undefined =>
  new RegExp(`^${template.replace("{file_id}", "([A-Za-z0-9_-]{1,128})")}$`).exec(path)?.[1]

const routeOf = <R>(
  service: ServiceApiModule.Service,
  { method, path, search }: Target,
  lists: ReadonlyArray<string>,
  note: Note<R>
): Route<R> | undefined => {
  const withId = (template: string, route: (service: ServiceApiModule.Service, fileId: string) => Route) => {
    const fileId = fileIdIn(template, path)
    return fileId === undefined ? undefined : route(service, fileId)
  }
  switch (method) {
    case "POST":
      if (path === paths.initiateUpload) return initiate(service, note)
      if (path === paths.initiateLargeUpload) return initiateLarge(service, note)
      return withId(paths.completeUpload, complete) ?? withId(paths.completeLargeUpload, completeLarge)
    case "GET":
      return lists.includes(path) ? list(service, path, search) : withId(paths.file, file)
    default:
      return undefined
  }
}

// Cookies go along with requests that another site makes in the user's name: browsers say where a request is from.
const isOfAnotherSite = ({ headers }: ServerRequest): boolean => headers["sec-fetch-site"] === "cross-site"

// A path that begins with two slashes is one all the same, and no host.
const targetOf = ({ method, url }: ServerRequest, prefix: string): Target | undefined => {
  const target = url.startsWith("/") ? `http://localhost${url}` : url
  if (!URL.canParse(target)) return undefined
  const { pathname, searchParams } = new URL(target)
  const path = prefix !== "" && pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname
  return { method, path, search: searchParams }
}

/**
 * An app that opens and completes uploads, tells the record of a file, and walks lists, for the pages of users whom
 * `authorize` knows: `BrowserStevedore.layer({ baseUrl: "/api" })` talks to it. The bytes do not pass through it: they go
 * from the page to storage. It gives no downloads: a page cannot read a file back by it (`verify: "download"`).
 *
 * The token of its `ServiceApi` never leaves the server. Requests are checked before anything is asked of the service,
 * errors have the service's own envelope, and what goes wrong between server and service is told to the log. Nothing is
 * repeated here: the page does that. A page that leaves ends its call. Requests that a browser says another site made are
 * refused.
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
 *   authorize: (request) => request.cookies["session"] === undefined ? Effect.fail("no session") : Effect.succeed("Ada"),
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
  const { authorize, lists = [], opened, permit, prefix = "" } = options
  const noteFor = (user: User): Note<R3> => (upload) =>
    opened === undefined ? Effect.void : Effect.catchAll(opened(user, upload), Refusal.ofApplication)
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (isOfAnotherSite(request)) return yield* Refusal.refused(403)
    const user = yield* Effect.mapError(authorize(request), () => Refusal.refused(401))
    const target = targetOf(request, prefix)
    const route = target === undefined ? undefined : routeOf(yield* ServiceApi, target, lists, noteFor(user))
    if (route === undefined) return yield* Refusal.refused(404)
    const { call, run } = yield* route.call
    if (permit !== undefined && !(yield* permit(user, call))) return yield* Refusal.refused(403)
    return yield* Effect.catchAll(
      run,
      (error) => error._tag === "Refused" ? Effect.fail(error) : Refusal.fromService(error)
    )
  }).pipe(
    Effect.provide(RetryPolicy.none),
    Effect.catchTag("Refused", (refusal) => Effect.succeed(Refusal.answer(refusal))),
    // Servers let nothing of an app be interrupted by itself, and whoever answers a page that has left waits without an end
    Effect.interruptible
  )
}
