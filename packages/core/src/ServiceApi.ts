/**
 * The client of the service: JSON, the bearer token, one typed error for whatever is not a success.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { arrival, ConnectionFailed, systemCode, TimedOut } from "./ConnectionError.js"
import type { FileRecord } from "./FileRecord.js"
import type { RawPage } from "./Page.js"
import * as PresignedUrl from "./PresignedUrl.js"
import * as RangedContent from "./RangedContent.js"
import * as RetryPolicy from "./RetryPolicy.js"
import type { ServiceAnswer } from "./ServiceAnswer.js"
import { errorOf, invalid } from "./ServiceAnswer.js"
import * as ServiceConfig from "./ServiceConfig.js"
import * as Endpoints from "./ServiceEndpoints.js"
import type { ServiceError } from "./ServiceError.js"
import type { ServiceProfile } from "./ServiceProfile.js"
import * as Timeouts from "./Timeouts.js"
import type { MultipartSession, SingleSession } from "./UploadSession.js"

/**
 * What a download answers with: the bytes, or a pre-signed URL where they are.
 *
 * @since 0.1.0
 * @category models
 */
export type DownloadAnswer =
  | (RangedContent.Held & { readonly _tag: "Content"; readonly bytes: Stream.Stream<Uint8Array, ServiceError> })
  | { readonly _tag: "Link"; readonly url: PresignedUrl.PresignedUrl }

/**
 * Every call of the service. Each is made again as the retry policy in force says, where that is harmless, and every
 * failure is one typed error.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** The profile that the calls are made by. */
  readonly profile: ServiceProfile
  /** The service's base URL: it tells one service's uploads from another's. */
  readonly baseUrl: string
  /** Opens a session for a single PUT. Not repeated when it may have arrived. */
  readonly initiateUpload: (file: Endpoints.FileDescription) => Effect.Effect<SingleSession, ServiceError>
  /** Opens a session of several parts. Not repeated when it may have arrived. */
  readonly initiateLargeUpload: (file: Endpoints.LargeFileDescription) => Effect.Effect<MultipartSession, ServiceError>
  /** Tells that the file is in storage. */
  readonly completeUpload: (
    input: Parameters<typeof Endpoints.completeUpload.request>[1]
  ) => Effect.Effect<FileRecord, ServiceError>
  /** Tells that every part is in storage. */
  readonly completeLargeUpload: (
    input: Parameters<typeof Endpoints.completeLargeUpload.request>[1]
  ) => Effect.Effect<FileRecord, ServiceError>
  /** The record of a file. */
  readonly file: (fileId: string) => Effect.Effect<FileRecord, ServiceError>
  /** The content of a file or a range of it, or where it is. The bytes must be read within the scope. */
  readonly download: (
    fileId: string,
    asked?: RangedContent.Asked
  ) => Effect.Effect<DownloadAnswer, ServiceError, Scope.Scope>
  /** One page of any list. */
  readonly listPage: (request: Endpoints.PageRequest) => Effect.Effect<RawPage, ServiceError>
  /** Whom the token stands for. */
  readonly tokenInfo: Effect.Effect<Endpoints.TokenInfo, ServiceError>
}

/**
 * @since 0.1.0
 * @category tags
 */
export class ServiceApi extends Context.Tag("@stevedore/core/ServiceApi")<ServiceApi, Service>() {}

interface Caller {
  readonly config: ServiceConfig.Service
  readonly client: HttpClient.HttpClient
}

const failed = (
  { config }: Caller,
  error: HttpClientError.HttpClientError,
  attempts: number
): ConnectionFailed => {
  const code = systemCode(error)
  return new ConnectionFailed({
    peer: "service",
    origin: new URL(config.baseUrl).origin,
    ...(code === undefined ? {} : { code }),
    arrived: error._tag === "RequestError" ? arrival(code) : "unknown",
    attempts
  })
}

const timedOut = (limits: Timeouts.Limits, attempts: number) => ({
  duration: limits.call,
  onTimeout: () => new TimedOut({ peer: "service", phase: "call", after: limits.call, attempts })
})

const readWhole = (
  operation: string,
  response: HttpClientResponse.HttpClientResponse,
  attempts: number
): Effect.Effect<ServiceAnswer, HttpClientError.HttpClientError> =>
  Effect.zipWith(response.text, Clock.currentTimeMillis, (body, receivedAt) => ({
    operation,
    status: response.status,
    headers: response.headers,
    body,
    receivedAt,
    attempts
  }))

// A call that is not harmless to repeat is made again only when the first is known not to have been carried out.
const wasNotCarriedOut = (error: ServiceError): boolean =>
  error._tag === "RateLimited" || (error._tag === "ConnectionFailed" && error.arrived === "no")

const span = (operation: string) =>
  Effect.withSpan(`ServiceApi.${operation}`, { kind: "client", captureStackTrace: false })

const call =
  (caller: Caller) =>
  <Input, Output>(endpoint: Endpoints.Endpoint<Input, Output>) =>
  (input: Input): Effect.Effect<Output, ServiceError> =>
    Effect.flatMap(Timeouts.Timeouts, (limits) =>
      RetryPolicy.retry(
        (attempt) =>
          caller.client.execute(endpoint.request(caller.config.profile, input)).pipe(
            Effect.flatMap((response) => readWhole(endpoint.operation, response, attempt)),
            Effect.mapError((error) => failed(caller, error, attempt)),
            Effect.timeoutFail(timedOut(limits, attempt)),
            Effect.flatMap((answer) => endpoint.respond(caller.config.profile, answer, input))
          ),
        { while: (error) => endpoint.repeatable || wasNotCarriedOut(error) }
      )).pipe(span(endpoint.operation))

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

const contentOf = (
  caller: Caller,
  response: HttpClientResponse.HttpClientResponse,
  asked: RangedContent.Asked,
  attempts: number
): Effect.Effect<DownloadAnswer, ServiceError> =>
  Option.match(RangedContent.held(response, asked), {
    onSome: (held) =>
      Effect.succeed<DownloadAnswer>({
        ...held,
        _tag: "Content",
        bytes: Stream.mapError(response.stream, (error) => failed(caller, error, attempts))
      }),
    // Its body may be as large as the file: it is not read.
    onNone: () =>
      Effect.flatMap(Clock.currentTimeMillis, (receivedAt) => {
        const { headers, status } = response
        const answer = { operation: "download", status, headers, body: "", receivedAt, attempts }
        return Effect.fail(invalid(answer, "Content-Range", "not the range that was asked for"))
      })
  })

const locationOf = (caller: Caller, answer: ServiceAnswer): Either.Either<DownloadAnswer, ServiceError> =>
  Option.fromNullable(answer.headers["location"]).pipe(
    Option.flatMap((location) =>
      PresignedUrl.fromString(
        /^https?:/i.test(location)
          ? location
          : URL.canParse(location, caller.config.baseUrl)
          ? new URL(location, caller.config.baseUrl).href
          : ""
      )
    ),
    Option.match({
      onNone: () => Either.left(invalid(answer, "Location", "no http or https URL in the header")),
      onSome: (url) => Either.right<DownloadAnswer>({ _tag: "Link", url })
    })
  )

const linkOf = (caller: Caller, answer: ServiceAnswer): Either.Either<DownloadAnswer, ServiceError> => {
  if (isRedirect(answer.status)) return locationOf(caller, answer)
  if (answer.status !== 200) return Either.left(errorOf(answer))
  return Either.map(
    Endpoints.downloadLink(caller.config.profile, answer),
    (url): DownloadAnswer => ({ _tag: "Link", url })
  )
}

const download =
  (caller: Caller) =>
  (fileId: string, asked: RangedContent.Asked = {}): Effect.Effect<DownloadAnswer, ServiceError, Scope.Scope> => {
    const request = HttpClientRequest.setHeaders(
      Endpoints.downloadRequest(caller.config.profile, fileId),
      caller.config.profile.download === "content" ? RangedContent.headers(asked) : {}
    )
    const isContent = (status: number) =>
      caller.config.profile.download === "content" && (status === 200 || status === 206)
    return Effect.flatMap(Timeouts.Timeouts, (limits) =>
      RetryPolicy.retry((attempt) =>
        Effect.mapError(
          HttpClient.withScope(caller.client).execute(request),
          (error) => failed(caller, error, attempt)
        ).pipe(
          Effect.flatMap((response) =>
            isContent(response.status)
              ? contentOf(caller, response, asked, attempt)
              : readWhole("download", response, attempt).pipe(
                Effect.mapError((error) => failed(caller, error, attempt)),
                Effect.flatMap((answer) => linkOf(caller, answer))
              )
          ),
          Effect.timeoutFail(timedOut(limits, attempt))
        )
      )).pipe(span("download"))
  }

/**
 * The service over an HTTP client. The client must not follow redirects by itself: a redirect would be sent the
 * token. Node's clients do not; for fetch see `BrowserStevedore`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Service, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> = Effect.gen(
  function*() {
    const config = yield* ServiceConfig.ServiceConfig
    const client = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequest((request) =>
        request.pipe(
          HttpClientRequest.prependUrl(config.baseUrl),
          HttpClientRequest.bearerToken(config.token),
          HttpClientRequest.acceptJson
        )
      )
    )
    const caller: Caller = { config, client }
    const of = call(caller)
    return {
      profile: config.profile,
      baseUrl: config.baseUrl,
      initiateUpload: of(Endpoints.initiateUpload),
      initiateLargeUpload: of(Endpoints.initiateLargeUpload),
      completeUpload: of(Endpoints.completeUpload),
      completeLargeUpload: of(Endpoints.completeLargeUpload),
      file: (fileId) => of(Endpoints.file)({ fileId }),
      download: download(caller),
      listPage: of(Endpoints.listPage),
      tokenInfo: of(Endpoints.tokenInfo)()
    }
  }
)

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<ServiceApi, never, ServiceConfig.ServiceConfig | HttpClient.HttpClient> = Layer.effect(
  ServiceApi,
  make
)
