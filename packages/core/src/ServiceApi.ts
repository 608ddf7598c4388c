/** The client of the service: JSON, the bearer token, and one typed error for anything but a success. */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { closedOnFailure } from "./base/fibers.js"
import { notGiven } from "./base/services.js"
import type { FileRecord } from "./FileRecord.js"
import type * as PresignedUrl from "./PresignedUrl.js"
import * as RateLimit from "./RateLimit.js"
import { invalid } from "./service/answer.js"
import {
  answerOf,
  type Attempt,
  call,
  type Caller,
  execute,
  failed,
  readStart,
  repeatedly,
  unanswered,
  within
} from "./service/call.js"
import { type Deprecation, makeDeprecations } from "./service/deprecations.js"
import { linkOf } from "./service/downloadLink.js"
import * as Endpoints from "./service/endpoints.js"
import type { RawPage } from "./service/page.js"
import * as RetryBudget from "./service/retryBudget.js"
import * as ServiceConfig from "./ServiceConfig.js"
import type { ServiceError } from "./ServiceError.js"
import { NotFound } from "./ServiceError.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { standardProfile } from "./source/standardProfile.js"
import { answerBytes } from "./storage/answerBytes.js"
import { uncoded } from "./storage/contentCoding.js"
import * as RangedContent from "./storage/range.js"
import { withoutRedirects } from "./storage/redirects.js"
import type { Send } from "./storage/send.js"
import { sendOver } from "./storage/send.js"
import { remember } from "./storage/withoutSecrets.js"
import type { MultipartSession, SingleSession } from "./UploadSession.js"

/**
 * What a download returns: the bytes, or a pre-signed URL to them.
 *
 * @category models
 */
export type DownloadAnswer =
  | (RangedContent.Held & {
    readonly _tag: "Content"
    readonly bytes: Stream.Stream<Uint8Array, ServiceError>
    /** The same, one chunk at a time, failing with `None` at the end. Present if the client has this form. */
    readonly pull?: Effect.Effect<Uint8Array, Option.Option<ServiceError>> | undefined
  })
  | { readonly _tag: "Link"; readonly url: PresignedUrl.PresignedUrl }

export type {
  /**
   * A call that the service plans to remove, according to its `Deprecation` and `Link` headers.
   *
   * @category models
   */
  Deprecation
}

/**
 * All calls of the service. Each is retried as the retry policy in force says, if that is safe, and every failure is
 * one typed error.
 *
 * @category models
 */
export interface Service {
  /** The profile that the calls follow. */
  readonly profile: ServiceProfile.ServiceProfile
  /** The service's base URL. It distinguishes the uploads of one service from those of another. */
  readonly baseUrl: string
  /** Whether files may be sent over `http:` URLs: if the base URL is one, or by configuration. Defaults to false. */
  readonly allowInsecureHttp?: boolean | undefined
  /** Opens a session for a single PUT. Not retried if the request may have arrived. */
  readonly initiateUpload: (file: Endpoints.FileDescription) => Effect.Effect<SingleSession, ServiceError>
  /** Opens a multipart session. Not retried if the request may have arrived. */
  readonly initiateLargeUpload: (file: Endpoints.LargeFileDescription) => Effect.Effect<MultipartSession, ServiceError>
  /** Reports that the file is in storage. Whatever the service reports of it is in the record; the id is the given one. */
  readonly completeUpload: (
    input: Endpoints.CompletedUpload
  ) => Effect.Effect<FileRecord, ServiceError>
  /** The same for a file in parts. */
  readonly completeLargeUpload: (
    input: Endpoints.CompletedLargeUpload
  ) => Effect.Effect<FileRecord, ServiceError>
  /** The record of a file. */
  readonly file: (fileId: string) => Effect.Effect<FileRecord, ServiceError>
  /** The content of a file or of a range of it, or where it is. Read the bytes within the scope. */
  readonly download: (
    fileId: string,
    asked?: RangedContent.RequestedRange
  ) => Effect.Effect<DownloadAnswer, ServiceError, Scope.Scope>
  /** One page of any list. */
  readonly listPage: (request: Endpoints.PageRequest) => Effect.Effect<RawPage, ServiceError>
  /** Whom the token belongs to; none if the service does not tell, which the interface does not ask of it. */
  readonly tokenInfo: Effect.Effect<Option.Option<Endpoints.TokenInfo>, ServiceError>
  /** Makes a file an entry of a project. Not retried if the request may have arrived. */
  readonly importFile: (
    input: Endpoints.FileImport
  ) => Effect.Effect<Endpoints.ImportedEntry, ServiceError>
  /** What is left of the token's rate limit; none if no limit is known. */
  readonly rateLimit: Effect.Effect<Option.Option<RateLimit.Status>>
  /** The deprecated calls that have been made so far. Each is logged once, as a warning. */
  readonly deprecations: Effect.Effect<ReadonlyArray<Deprecation>>
}

/**
 * How to change the client when it is built.
 *
 * @category models
 */
export interface Options {
  /**
   * Changes the HTTP client that all calls use, as the last step: its requests already have the base URL and the token.
   * Use it for extra headers, a proxy, or metrics. Its own retries come in addition to those of the retry policy.
   */
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
  /**
   * Sends a call and reads its answer as a whole, where that costs less than the HTTP client does, which then only makes
   * downloads. Requests already have the base URL and the token. Not used if there is a `transformClient`.
   */
  readonly send?: Send | undefined
  /**
   * Takes the bytes of a download from a response without a Stream, one chunk at a time, failing with `None` at the
   * end, where that costs less. The bytes are those that were sent: a client with this form decodes no response,
   * whatever its `Content-Encoding`. If omitted, or for an unknown response, the Stream is used.
   */
  readonly pull?:
    | ((
      response: HttpClientResponse.HttpClientResponse
    ) => Effect.Effect<Uint8Array, Option.Option<HttpClientError.HttpClientError>> | undefined)
    | undefined
}

/**
 * The tag of the client of the service.
 *
 * @category tags
 */
export class ServiceApi extends Context.Tag("@stevedore/core/ServiceApi")<ServiceApi, Service>() {}

const contentOf = (
  caller: Caller,
  response: HttpClientResponse.HttpClientResponse,
  asked: RangedContent.RequestedRange,
  attempt: Attempt
): Effect.Effect<DownloadAnswer, ServiceError> => {
  const failure = (error: HttpClientError.HttpClientError) => failed(caller, unanswered(error), attempt.number)
  const pull = caller.pull?.(response)
  return Option.match(RangedContent.held(response, asked, { asSent: pull !== undefined }), {
    onSome: (held) =>
      Effect.succeed<DownloadAnswer>({
        ...held,
        _tag: "Content",
        bytes: answerBytes(response, failure),
        pull: pull === undefined ? undefined : Effect.mapError(pull, Option.map(failure))
      }),
    // Its body may be as large as the file, so it is not read.
    onNone: () =>
      Effect.fail(
        invalid(answerOf(caller, "download", response, attempt), "Content-Range", "not the requested range")
      )
  })
}

const download = (caller: Caller) =>
(
  fileId: string,
  asked: RangedContent.RequestedRange = {}
): Effect.Effect<DownloadAnswer, ServiceError, Scope.Scope> => {
  const request = HttpClientRequest.setHeaders(
    Endpoints.downloadRequest(caller.config.profile, fileId),
    caller.config.profile.download === "content" ? { accept: "*/*", ...RangedContent.headers(asked) } : {}
  )
  const isContent = (status: number) =>
    caller.config.profile.download === "content" && (status === 200 || status === 206)
  return repeatedly(
    caller,
    { operation: "download", repeatable: true },
    (attempt) =>
      within(
        Effect.flatMap(execute(caller, request, attempt), (response) =>
          isContent(response.status)
            ? contentOf(caller, response, asked, attempt)
            : Effect.flatMap(
              readStart(caller, "download", response, attempt),
              (answer) =>
                Either.map(
                  linkOf(caller.config.profile, response.request.url, answer),
                  (url): DownloadAnswer => ({ _tag: "Link", url })
                )
            )).pipe(closedOnFailure),
        attempt
      )
  )
}

// An id is one path segment. No file has an id that would change the path, or that cannot be written in a URL.
const canBeFileId = (fileId: string): boolean => !/^\.{0,2}$|\p{Surrogate}/u.test(fileId)

const forFile = <A, R>(
  operation: string,
  fileId: string,
  request: () => Effect.Effect<A, ServiceError, R>
): Effect.Effect<A, ServiceError, R> =>
  canBeFileId(fileId) ? request() : Effect.fail(new NotFound({ operation, status: 404, issues: [], attempts: 0 }))

// The platform's own span would end with an error that holds the request, and with it the token. Each call has a span
// of ours instead, and sends its trace headers to the service itself.
const withTraceHeaders = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.match(Effect.currentSpan, {
    onFailure: () => request,
    onSuccess: (span) => HttpClientRequest.setHeaders(request, HttpTraceContext.toHeaders(span))
  })

const makeBehind = (
  options: Options,
  ownGate: (profile: ServiceProfile.ServiceProfile) => Effect.Effect<RateLimit.Service>
): Effect.Effect<Service, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const config = yield* ServiceConfig.ServiceConfig
    const whole = (request: HttpClientRequest.HttpClientRequest) =>
      withTraceHeaders(
        request.pipe(
          // the slash: no path can extend the host name and send the token elsewhere
          HttpClientRequest.prependUrl(`${config.baseUrl}/`),
          config.token === undefined ? identity : HttpClientRequest.bearerToken(config.token),
          HttpClientRequest.setHeaders({ accept: "application/json", ...uncoded, ...request.headers })
        )
      )
    const client = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequestEffect(whole),
      HttpClient.withTracerDisabledWhen(() => true),
      withoutRedirects,
      options.transformClient ?? identity
    )
    const { send } = options
    if (config.token !== undefined) remember(config.token)
    const deprecations = makeDeprecations(config.token)
    const allowInsecureHttp = config.allowInsecureHttp === true || config.baseUrl.startsWith("http:")
    const caller: Caller = {
      config,
      client,
      send: send === undefined || options.transformClient !== undefined
        ? sendOver(client)
        : (request, limits) => Effect.flatMap(whole(request), (request) => send(request, limits)),
      allowInsecureHttp,
      pull: options.pull,
      rateLimit: (yield* RateLimit.RateLimit) ?? (yield* ownGate(config.profile)),
      budget: RetryBudget.make(),
      noteDeprecation: deprecations.note
    }
    const of = call(caller)
    return {
      profile: config.profile,
      baseUrl: config.baseUrl,
      allowInsecureHttp,
      initiateUpload: of(Endpoints.initiateUpload),
      initiateLargeUpload: of(Endpoints.initiateLargeUpload),
      completeUpload: (input) => forFile("completeUpload", input.fileId, () => of(Endpoints.completeUpload)(input)),
      completeLargeUpload: (input) =>
        forFile("completeLargeUpload", input.fileId, () => of(Endpoints.completeLargeUpload)(input)),
      file: (fileId) => forFile("file", fileId, () => of(Endpoints.file)({ fileId })),
      download: (fileId, asked) => forFile("download", fileId, () => download(caller)(fileId, asked)),
      listPage: of(Endpoints.listPage),
      tokenInfo: of(Endpoints.tokenInfo)(),
      importFile: of(Endpoints.importFile),
      rateLimit: Effect.flatMap(RateLimit.RateLimit, (given) => (given ?? caller.rateLimit).status),
      deprecations: deprecations.all
    }
  })

/**
 * The service over an HTTP client. The client must not follow redirects itself, because it would send the token along.
 * Node's clients do not, and that of fetch is told not to. All calls of one client share one retry budget, and one rate
 * limit gate: the one given by `RateLimit.layer`, or its own.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<Service, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> =>
  makeBehind(options, ({ rateLimit }) => RateLimit.make(rateLimit))

/**
 * {@link make}, but without a rate limit gate of its own, for a page: its calls are few, and one that is refused with
 * 429 waits as `Retry-After` says. A gate that is given by `RateLimit.layer` counts here too.
 *
 * @internal
 */
export const makeUngated = (
  options: Options
): Effect.Effect<Service, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> =>
  makeBehind(options, () => Effect.succeed(RateLimit.open))

/**
 * The layer of {@link make}.
 *
 * @example
 * import { HttpClient, HttpClientRequest } from "@effect/platform"
 * import { ServiceApi } from "@stevedore/core"
 *
 * const api = ServiceApi.layerWith({
 *   transformClient: HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", "archive/1.0"))
 * })
 *
 * @category layers
 */
export const layerWith = (
  options: Options
): Layer.Layer<ServiceApi, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> =>
  Layer.effect(ServiceApi, make(options))

/**
 * {@link layerWith} without options.
 *
 * @category layers
 */
export const layer: Layer.Layer<ServiceApi, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> =
  /* #__PURE__ */ layerWith({})

/**
 * A stub for tests: it has the calls that it is given. Any other call is a defect that names it.
 *
 * @example
 * import { FileRecord, ServiceApi } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const withFile = (file: FileRecord.FileRecord) => ServiceApi.layerNoop({ file: () => Effect.succeed(file) })
 *
 * @category layers
 */
export const layerNoop = (service: Partial<Service>): Layer.Layer<ServiceApi> =>
  Layer.succeed(ServiceApi, {
    profile: standardProfile,
    baseUrl: "https://service.test",
    initiateUpload: notGiven("ServiceApi.initiateUpload"),
    initiateLargeUpload: notGiven("ServiceApi.initiateLargeUpload"),
    completeUpload: notGiven("ServiceApi.completeUpload"),
    completeLargeUpload: notGiven("ServiceApi.completeLargeUpload"),
    file: notGiven("ServiceApi.file"),
    download: notGiven("ServiceApi.download"),
    listPage: notGiven("ServiceApi.listPage"),
    tokenInfo: notGiven("ServiceApi.tokenInfo")(),
    importFile: notGiven("ServiceApi.importFile"),
    rateLimit: Effect.succeedNone,
    deprecations: Effect.succeed([]),
    ...service
  })

export {
  /**
   * What Complete large upload is told: every part, with its etag verbatim.
   *
   * @category models
   */
  type CompletedLargeUpload,
  /**
   * What Complete upload is told.
   *
   * @category models
   */
  type CompletedUpload,
  /**
   * The file of a session with one URL.
   *
   * @category models
   */
  type FileDescription,
  /**
   * The file of a session with a URL for each part.
   *
   * @category models
   */
  type LargeFileDescription,
  /**
   * A page of a list.
   *
   * @category models
   */
  type PageRequest,
  /**
   * What the service tells of a token.
   *
   * @category models
   */
  TokenInfo
} from "./service/endpoints.js"

export {
  /**
   * A page as the service sends it, its items not yet decoded.
   *
   * @category models
   */
  RawPage
} from "./service/page.js"
