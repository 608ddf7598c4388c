import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { arrivalOf } from "../base/arrivalOf.js"
import { changedError } from "../base/changedError.js"
import { untilTimer } from "../base/ownFiber.js"
import type { Pull } from "../base/pull.js"
import type * as RetryBudget from "../base/retryBudget.js"
import { tellRepeat } from "../base/tellRepeat.js"
import { causes, ConnectionFailed, systemCode, TimedOut } from "../ConnectionError.js"
import * as Metrics from "../Metrics.js"
import { PresignedUrl } from "../PresignedUrl.js"
import * as RateLimit from "../RateLimit.js"
import * as RetryPolicy from "../RetryPolicy.js"
import type * as ServiceConfig from "../ServiceConfig.js"
import type { InvalidResponse, ServiceError } from "../ServiceError.js"
import { answerStart } from "../storage/answerBytes.js"
import { decoded } from "../storage/contentCoding.js"
import * as Timeouts from "../Timeouts.js"
import type { UploadError } from "../UploadError.js"
import type { ServiceAnswer } from "./answer.js"
import { invalid } from "./answer.js"
import type { makeDeprecations } from "./deprecations.js"
import type * as Endpoints from "./endpoints.js"
import { makeGateWait } from "./gateWait.js"

/** What all calls of a client share. */
export interface Caller {
  readonly config: ServiceConfig.Service
  readonly client: HttpClient.HttpClient
  /** Whether files may be sent over http. */
  readonly allowInsecureHttp: boolean
  /** The bytes of a response without a Stream, if the client has such a form. */
  readonly pull:
    | ((
      response: HttpClientResponse.HttpClientResponse
    ) => Pull<Uint8Array, HttpClientError.HttpClientError> | undefined)
    | undefined
  readonly rateLimit: RateLimit.Service
  readonly budget: RetryBudget.RetryBudget
  readonly noteDeprecation: ReturnType<typeof makeDeprecations>["note"]
}

/** The gate in force where this runs, or else the client's. */
export const rateLimitOf = ({ rateLimit }: Caller): Effect.Effect<RateLimit.Service> =>
  Effect.map(RateLimit.RateLimit, (given) => given ?? rateLimit)

// Reported by a client that knows, such as the one for browsers.
const mayBeForbidden = (error: unknown): boolean =>
  causes(error).some((cause) => Predicate.hasProperty(cause, "hint") && cause.hint === "cors")

export const failed = (
  { config }: Caller,
  error: HttpClientError.HttpClientError,
  attempts: number
): ConnectionFailed => {
  const code = systemCode(error)
  return new ConnectionFailed({
    peer: "service",
    origin: new URL(config.baseUrl).origin,
    ...(code === undefined ? {} : { code }),
    ...(mayBeForbidden(error) ? { hint: "cors" as const } : {}),
    arrived: error._tag === "RequestError" ? arrivalOf(error) : "unknown",
    attempts
  })
}

const timedOut = (phase: "call" | "total", limits: Timeouts.Limits, attempts: number): TimedOut =>
  new TimedOut({ peer: "service", phase, after: limits[phase], attempts })

/** One attempt of a call. */
export interface Attempt {
  readonly number: number
  /** When its request was sent, for a response received at a given time. Both are in milliseconds of our clock. */
  readonly sentAt: (receivedAt: number) => number
  /** Sends the request when the rate limit allows it, and passes on what the response's headers say. */
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, ConnectionFailed, Scope.Scope>
}

/** A response without its body. */
export const answerOf = (
  { allowInsecureHttp, config: { token } }: Caller,
  operation: string,
  { headers, status }: HttpClientResponse.HttpClientResponse,
  { number, sentAt }: Attempt
): Effect.Effect<ServiceAnswer> =>
  Effect.map(Clock.currentTimeMillis, (receivedAt) => ({
    operation,
    status,
    headers,
    body: "",
    sentAt: sentAt(receivedAt),
    receivedAt,
    attempts: number,
    allowInsecureHttp,
    token
  }))

type Reading = (
  caller: Caller,
  operation: string,
  response: HttpClientResponse.HttpClientResponse,
  attempt: Attempt
) => Effect.Effect<ServiceAnswer, ConnectionFailed | InvalidResponse>

const utf8 = new TextDecoder()

const withBody = (
  caller: Caller,
  operation: string,
  response: HttpClientResponse.HttpClientResponse,
  attempt: Attempt,
  { bytes, isStart, longest }: Parameters<typeof decoded>[1]
): Effect.Effect<ServiceAnswer> =>
  Effect.zipWith(
    decoded(response.headers, { bytes, isStart, longest }),
    answerOf(caller, operation, response, attempt),
    (body, answer) => ({ ...answer, body: utf8.decode(body) })
  )

/**
 * The most bytes of a response that is read as a whole, three times the size of ten thousand signed URLs.
 *
 * @internal
 */
export const longestAnswer = 67_108_864

// A client of ours reads it with less effort, and knows the same limit
const wholeOf = (caller: Caller, response: HttpClientResponse.HttpClientResponse, attempt: Attempt) =>
  caller.pull?.(response) === undefined
    ? answerStart(response, longestAnswer, (error) => failed(caller, error, attempt.number))
    : Effect.map(
      Effect.mapError(response.arrayBuffer, (error) => failed(caller, error, attempt.number)),
      (buffer) => new Uint8Array(buffer)
    )

export const readWhole: Reading = (caller, operation, response, attempt) => {
  const tooLong = Effect.flatMap(
    answerOf(caller, operation, response, attempt),
    (answer) => Effect.fail(invalid(answer, "", `more than ${longestAnswer} bytes`))
  )
  return wholeOf(caller, response, attempt).pipe(
    Effect.flatMap((bytes) =>
      withBody(caller, operation, response, attempt, { bytes, isStart: false, longest: longestAnswer })
    ),
    Effect.filterOrElse(({ body }) => body.length <= longestAnswer, () => tooLong),
    Effect.catchIf((error) => error._tag === "ConnectionFailed" && error.code === "ERR_ANSWER_TOO_LONG", () => tooLong)
  )
}

/** More characters than any link has, or any explanation of why there is none. */
export const longestLink = 262_144

/** The same for what may be as large as a file: anything beyond {@link longestLink} is not read. */
export const readStart: Reading = (caller, operation, response, attempt) =>
  Effect.flatMap(
    answerStart(response, longestLink, (error) => failed(caller, error, attempt.number)),
    (bytes) =>
      withBody(caller, operation, response, attempt, {
        bytes,
        isStart: bytes.byteLength > longestLink,
        longest: longestLink
      })
  )

/** A call that is not safe to repeat is retried only if the first attempt is known not to have been carried out. */
export const wasNotCarriedOut = (error: UploadError): boolean =>
  error._tag === "RateLimited" || (error._tag === "ConnectionFailed" && error.arrived === "no")

const span = (operation: string) =>
  Effect.withSpan(`ServiceApi.${operation}`, { kind: "client", captureStackTrace: false })

// By whichever clock shows more time passed: one stands still while the computer sleeps, and the other may be set back
const sentNow = (clock: Clock.Clock): Attempt["sentAt"] => {
  const sentAt = clock.unsafeCurrentTimeMillis()
  const began = clock.unsafeCurrentTimeNanos()
  return (receivedAt) => Math.min(sentAt, receivedAt - Number(clock.unsafeCurrentTimeNanos() - began) / 1e6)
}

const executing =
  (caller: Caller, number: number, answered: (answer: RateLimit.Answer) => Effect.Effect<void>): Attempt["execute"] =>
  (request) =>
    HttpClient.withScope(caller.client).execute(request).pipe(
      Effect.mapError((error) => failed(caller, error, number)),
      Effect.tap(({ headers, status }) =>
        Effect.zipRight(
          answered({ status, headers }),
          caller.noteDeprecation({ method: request.method, path: request.url, headers })
        )
      )
    )

/**
 * Makes every call: through the rate limit gate, within the timeouts, and retried if that helps, is safe and fits the
 * budget.
 */
export const repeatedly = <A, R>(
  caller: Caller,
  endpoint: { readonly operation: string; readonly repeatable: boolean },
  attempt: (attempt: Attempt) => Effect.Effect<A, ServiceError, R>
): Effect.Effect<A, ServiceError, R> =>
  Effect.flatMap(Effect.all([Timeouts.Timeouts, rateLimitOf(caller), Effect.clock]), ([limits, rateLimit, clock]) => {
    let last = 0
    let mayHaveArrived = false
    const wait = makeGateWait(clock)
    const attempts = Effect.mapError(
      RetryPolicy.retry(
        (number) => {
          last = number
          wait.begin()
          return rateLimit.pass(
            (answered) =>
              Effect.suspend(() => {
                wait.end()
                return untilTimer(
                  Effect.zipRight(
                    Metrics.countAttempt(endpoint.operation),
                    Effect.suspend(() =>
                      attempt({ number, sentAt: sentNow(clock), execute: executing(caller, number, answered) })
                    )
                  ),
                  Effect.flatMap(Effect.sleep(limits.call), () => timedOut("call", limits, number))
                )
              }),
            { operation: endpoint.operation, attempt: number }
          )
        },
        {
          while: (error) => {
            // the gate itself may have failed
            wait.end()
            mayHaveArrived ||= !wasNotCarriedOut(error)
            return endpoint.repeatable || wasNotCarriedOut(error)
          },
          onRetry: (error, wait) => tellRepeat(`of ${endpoint.operation}`, error, wait),
          budget: caller.budget
        }
      ),
      (error): ServiceError => mayHaveArrived && "issues" in error ? changedError(error, { mayHaveArrived }) : error
    )
    return untilTimer(attempts, Effect.flatMap(wait.timer(limits.total), () => timedOut("total", limits, last)))
  }).pipe(span(endpoint.operation))

/** As many as a session has at most. */
const mostIssued = 10_000

const urlsOf = (output: unknown): ReadonlyArray<PresignedUrl> =>
  (Predicate.hasProperty(output, "urls") && Array.isArray(output.urls)
    ? output.urls
    : Predicate.hasProperty(output, "url")
    ? [output.url]
    : []).filter((url: unknown) => url instanceof PresignedUrl)

export const call = (caller: Caller) => {
  // A service may quote the URL of a part in its response to Complete
  let issued: ReadonlyArray<PresignedUrl> = []
  const note = (output: unknown): void => {
    const urls = urlsOf(output)
    if (urls.length > 0) issued = urls.concat(issued).slice(0, mostIssued)
  }
  return <Input, Output>(endpoint: Endpoints.Endpoint<Input, Output>) =>
  (input: Input): Effect.Effect<Output, ServiceError> =>
    repeatedly(
      caller,
      endpoint,
      (attempt) =>
        attempt.execute(endpoint.request(caller.config.profile, input)).pipe(
          Effect.flatMap((response) => readWhole(caller, endpoint.operation, response, attempt)),
          Effect.scoped,
          Effect.flatMap((answer) => endpoint.respond(caller.config.profile, { ...answer, issued }, input)),
          Effect.tap((output) => Effect.sync(() => note(output)))
        )
    )
}
