/**
 * The service for your own users' pages, as an app to mount in your server, which holds the token so that the pages do
 * not.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { FileRecord } from "@stevedore/core/FileRecord"
import * as Json from "@stevedore/core/Json"
import type { Metadata } from "@stevedore/core/Metadata"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import type * as ServiceApiModule from "@stevedore/core/ServiceApi"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import type * as UploadSession from "@stevedore/core/UploadSession"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Hooks from "./page/hooks.js"
import { isForeign } from "./page/origin.js"
import { forPages } from "./page/record.js"
import * as Refusal from "./page/refusal.js"
import type { Refused } from "./page/refusal.js"
import * as Request from "./page/request.js"
import * as UploadOutbox from "./UploadOutbox.js"
import type { Complete } from "./UploadOutbox.js"

/**
 * What a user wants to do. Sizes are in bytes.
 *
 * @category models
 */
export type Call =
  | {
    readonly operation: "initiateUpload" | "initiateLargeUpload"
    readonly file: { readonly name: string; readonly mediaType: string; readonly size: number }
    /** What the page gives along; absent if nothing. Whether a user may say that is for `permit` to decide. */
    readonly metadata?: Metadata | undefined
  }
  | { readonly operation: "completeUpload" | "completeLargeUpload" | "file"; readonly fileId: string }
  | { readonly operation: "list"; readonly path: string }

/**
 * An upload that the service has opened, and its file. Later calls refer to it only by this id.
 *
 * @category models
 */
export interface Opened {
  readonly fileId: string
  readonly file: { readonly name: string; readonly mediaType: string; readonly size: number }
  /** What the page gives along; absent if nothing. */
  readonly metadata?: Metadata | undefined
}

/**
 * Who may do what, and what is told of it.
 *
 * @category models
 */
export interface Options<User, E, R, R2 = never, E2 = never, R3 = never, E3 = never, R4 = never> {
  /** Identifies the user. Any failure results in a 401; a {@link Refusal} says why. */
  readonly authorize: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<User, E, R>
  /**
   * Whether an authorized user may do this: `false` results in a 403, and a {@link Refusal} says why. By default, a user may complete and read what the
   * `outbox` knows that he has opened, and any other id is a 404: with the outbox in memory, also an upload that was
   * opened before this process began. `"everything"` lets each user complete and read every file of the token.
   */
  readonly permit?: ((user: User, call: Call) => Effect.Effect<boolean, Refusal.Refusal, R2>) | "everything" | undefined
  /**
   * Called for each upload that was opened for a user, before the page learns of it, to record whose it is for `permit`
   * to check. If it fails, the page gets a 500 and nothing about the upload, and the failure is logged. If the page
   * disconnects meanwhile, it is interrupted: make it `Effect.uninterruptible` if it writes in several steps.
   */
  readonly opened?: ((user: User, upload: Opened) => Effect.Effect<void, E2, R3>) | undefined
  /**
   * Called **once for each upload that the service has completed**, before the page hears of it, and also if it never
   * does: when the page is closed meanwhile, when two tabs ask, when the service's answer is lost. Then the service is
   * asked again, at growing intervals up to 5 minutes, for a day. If the hook fails, the page gets a 500, the failure is
   * logged, and the hook is called again in the same way.
   *
   * It gets the user who opened the upload, the service's record of the file (its name, type and size as the page
   * declared them if the service does not say), and the metadata. A page waits for it: fork what takes long.
   *
   * "Once" rests on the `outbox`. As long as the process lives and the outbox works, it is exactly once. If the process
   * dies after the hook and before the outbox knows of it, the hook is called again for the same `file.id` as soon as a
   * process on the same outbox gets a request: at least once. With the outbox in memory, which is the default, a process
   * that dies leaves it to the page to ask again.
   */
  readonly completed?:
    | ((user: User, file: FileRecord, metadata: Metadata) => Effect.Effect<void, E3, R4>)
    | undefined
  /**
   * Called once for each upload that the service has refused to complete for good, in the same way as `completed`, with
   * what the page declared. An upload whose page never asks to complete it is not known to have failed.
   */
  readonly failed?:
    | ((user: User, file: FileRecord, metadata: Metadata, error: ServiceError) => Effect.Effect<void, E3, R4>)
    | undefined
  /**
   * What `completed` and `failed` remember of uploads, and whose each is where there is no `permit`. Defaults to
   * `UploadOutbox.inMemory`; for several processes, or for one that restarts, `UploadOutbox.make`. Not used with `permit`
   * and without a hook.
   */
  readonly outbox?: UploadOutbox.UploadOutbox<User> | undefined
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

/** What is done for a user about an upload. */
interface Actions<R> {
  /** Before the page learns of an upload that was opened. */
  readonly opened: (upload: Opened) => Effect.Effect<void, Refused, R>
  /** Gives what the page is told. */
  readonly completed: (complete: Complete) => Effect.Effect<string, Refused | ServiceError, R>
}

const answered = (
  text: string,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, {
    contentType: "application/json",
    status: options.status ?? 200,
    headers: { ...Refusal.headersOfAll, ...options.headers }
  })

const textOf = (body: unknown): string => Json.stringify(body) ?? "null"

const json = (body: unknown, options?: Parameters<typeof answered>[1]): HttpServerResponse.HttpServerResponse =>
  answered(textOf(body), options)

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

const initiate = <R>(service: ServiceApiModule.Service, { opened }: Actions<R>): Route<R> => ({
  call: Effect.map(Request.body(Request.Initiate(service.profile.limits)), ({ metadata, name, size, type }) => {
    const file = { name, mediaType: type, size }
    const along = metadata === undefined ? {} : { metadata }
    return {
      call: { operation: "initiateUpload", file, ...along },
      run: service.initiateUpload({ ...file, ...along }).pipe(
        Effect.tap(({ fileId }) => opened({ fileId, file, ...along })),
        Effect.flatMap((session) =>
          created(session, { id: idOf(session, "fileId"), upload_url: PresignedUrl.reveal(session.url) })
        )
      )
    }
  })
})

const initiateLarge = <R>(service: ServiceApiModule.Service, { opened }: Actions<R>): Route<R> => ({
  call: Effect.map(
    Request.body(Request.InitiateLarge(service.profile.limits)),
    ({ metadata, name, parts, size, type }) => {
      const file = { name, mediaType: type, size }
      const along = metadata === undefined ? {} : { metadata }
      return {
        call: { operation: "initiateLargeUpload", file, ...along },
        run: service.initiateLargeUpload({ ...file, ...along, parts: Option.fromNullable(parts) }).pipe(
          Effect.tap(({ fileId }) => opened({ fileId, file, ...along })),
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
    }
  )
})

const encodeRecord = Schema.encodeSync(FileRecord)

// All bytes are in storage, and users who see that close the page: the file must not be lost for that. It runs in its own
// fiber, because a timeout cannot end what is uninterruptible.
const toItsEnd = <E, R>(completed: Effect.Effect<string, E, R>): Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  E,
  R
> =>
  Effect.forkDaemon(Effect.exit(completed)).pipe(
    Effect.flatMap(Fiber.join),
    Effect.flatten,
    Effect.map((text) => answered(text))
  )

const complete = <R>(service: ServiceApiModule.Service, fileId: string, { completed }: Actions<R>): Route<R> => ({
  call: Effect.map(
    service.profile.completeUploadBody === "none" ? Effect.succeed({}) : Request.body(Request.CompleteSingle),
    ({ etag, file_id, name, size, type }: typeof Request.CompleteSingle.Type) => ({
      call: { operation: "completeUpload", fileId },
      run: toItsEnd(completed({
        fileId,
        numericIds: file_id === undefined || typeof file_id === "string" ? [] : ["fileId"],
        etag,
        size,
        name,
        mediaType: type
      }))
    })
  )
})

const completeLarge = <R>(
  service: ServiceApiModule.Service,
  fileId: string,
  { completed }: Actions<R>
): Route<R> => ({
  call: Effect.map(Request.body(Request.CompleteLarge(service.profile.limits)), ({ parts, upload_id }) => ({
    call: { operation: "completeLargeUpload", fileId },
    run: toItsEnd(completed({
      fileId,
      uploadId: String(upload_id),
      numericIds: typeof upload_id === "string" ? [] : ["uploadId"],
      parts: parts.map(({ etag, part_number }) => ({ partNumber: part_number, etag }))
    }))
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
  actions: Actions<R>
): Route<R> | undefined => {
  const { method, path } = target
  const withId = <A>(
    template: string,
    route: (service: ServiceApiModule.Service, id: string, options: A) => Route<R>,
    options: A
  ) => {
    const fileId = fileIdIn(template, path)
    return fileId === undefined ? undefined : route(service, fileId, options)
  }
  switch (method) {
    case "POST":
      if (path === paths.initiateUpload) return initiate(service, actions)
      if (path === paths.initiateLargeUpload) return initiateLarge(service, actions)
      return withId(paths.completeUpload, complete<R>, actions) ??
        withId(paths.completeLargeUpload, completeLarge<R>, actions)
    case "GET":
      return lists.includes(path) ? list(service, target, forward) : withId(paths.file, file, forward)
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
 * import { HttpServer } from "@effect/platform"
 * import { NodeHttpServer } from "@effect/platform-node"
 * import { NodeStevedore, StevedoreHttpApp } from "@stevedore/node"
 * import { Effect, Layer } from "effect"
 * import { createServer } from "node:http"
 *
 * const app = StevedoreHttpApp.make({
 *   prefix: "/api",
 *   authorize: () => Effect.succeed("Ada") // here, everybody is Ada: find your user by the request's session
 * })
 *
 * const server = HttpServer.serve(app).pipe(
 *   Layer.provide(NodeStevedore.layerConfig()),
 *   Layer.provide(NodeHttpServer.layer(() => createServer(), { port: 8080 }))
 * )
 *
 * const main = Layer.launch(server)
 * // NodeRuntime.runMain(main)
 *
 * @category constructors
 */
export const make = <User, E, R, R2 = never, E2 = never, R3 = never, E3 = never, R4 = never>(
  options: Options<User, E, R, R2, E2, R3, E3, R4>
): HttpApp.Default<never, ServiceApi | R | R2 | R3 | R4> => {
  const { allowedOrigins = [], authorize, completed, failed, forward = [], opened, permit, prefix = "" } = options
  const told = (file: FileRecord): string => textOf({ data: forPages(encodeRecord(file), forward) })
  const outbox = options.outbox ?? UploadOutbox.inMemory<User>()
  const ending = completed === undefined && failed === undefined
    ? undefined
    : Hooks.make<User, E3, R4>({ completed, failed }, outbox, told)
  const isSame = outbox.isSame ?? UploadOutbox.sameUser
  const owned = ({ file, fileId, metadata = {} }: Opened, user: User) =>
    permit === undefined
      ? Effect.catchAllCause(outbox.put({ fileId, file, metadata, user, phase: "opened" }), Refusal.ofHook)
      : Effect.void
  const permitted = (user: User, call: Call): Effect.Effect<void, Refused, R2> => {
    if (permit === "everything") return Effect.void
    if (permit !== undefined) {
      return Effect.filterOrFail(
        Effect.mapError(permit(user, call), Refusal.ofUser(403)),
        (isPermitted) => isPermitted,
        () => Refusal.refused(403)
      )
    }
    return "fileId" in call
      ? Effect.catchAllCause(outbox.find(call.fileId), Refusal.ofHook).pipe(
        Effect.filterOrFail(
          Option.exists((entry) => isSame(entry.user, user)),
          // whether somebody else has it is not for him to know
          () => Refusal.refused(404)
        )
      )
      : Effect.void
  }
  const actionsFor = (service: ServiceApiModule.Service, user: User): Actions<ServiceApi | R3 | R4> => ({
    opened: (upload) =>
      Effect.zipRight(
        opened === undefined ? Effect.void : Effect.catchAll(opened(user, upload), Refusal.ofApplication),
        ending === undefined ? owned(upload, user) : ending.opened(user, upload)
      ),
    completed: (complete) => ending?.completed(user, complete) ?? Effect.map(Hooks.send(service, complete), told)
  })
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (isForeign(request, allowedOrigins)) return yield* Refusal.refused(403)
    const user = yield* Effect.mapError(authorize(request), Refusal.ofUser(401))
    const service = yield* ServiceApi
    if (ending !== undefined) yield* ending.resumed
    const target = targetOf(request, prefix)
    const route = target === undefined ? undefined : routeOf(service, target, options, actionsFor(service, user))
    if (route === undefined) return yield* Refusal.refused(404)
    const { call, run } = yield* route.call
    yield* permitted(user, call)
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

export {
  /**
   * Why a user may not do something, for the page to tell: `authorize` and `permit` fail with it.
   *
   * @example
   * import { StevedoreHttpApp } from "@stevedore/node"
   * import { Effect } from "effect"
   *
   * const app = StevedoreHttpApp.make({
   *   authorize: () => Effect.succeed("Ada"),
   *   permit: (_, call) =>
   *     "file" in call && call.file.size > 1_000_000
   *       ? new StevedoreHttpApp.Refusal({ status: 413, code: "Plan", words: "At most 1 MB for free accounts." })
   *       : Effect.succeed(true)
   * })
   *
   * @category errors
   */
  Refusal
} from "./page/refusal.js"
