import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { longestLateness, monotonicMillis } from "../base/clock.js"
import type { Pull } from "../base/effect.js"
import { untilTimer } from "../base/fibers.js"
import { causes, ConnectionFailed, systemCode, TimedOut } from "../ConnectionError.js"
import { arrivalOf, changedError, tellRepeat } from "../errors/errorWords.js"
import * as Metrics from "../Metrics.js"
import { PresignedUrl } from "../PresignedUrl.js"
import * as RateLimit from "../RateLimit.js"
import * as RetryPolicy from "../RetryPolicy.js"
import type * as ServiceConfig from "../ServiceConfig.js"
import type { ServiceError } from "../ServiceError.js"
import { answerStart } from "../storage/answerBytes.js"
import { decoded } from "../storage/contentCoding.js"
import type { Answered, Head, Send, Unanswered } from "../storage/send.js"
import * as Timeouts from "../Timeouts.js"
import type { UploadError } from "../UploadError.js"
import type { ServiceAnswer } from "./answer.js"
import { invalid } from "./answer.js"
import type { makeDeprecations } from "./deprecations.js"
import type * as Endpoints from "./endpoints.js"
import type * as RetryBudget from "./retryBudget.js"

/** What all calls of a client share. */
export interface Caller {
  readonly config: ServiceConfig.Service
  /** For what is not read as a whole. */
  readonly client: HttpClient.HttpClient
  readonly send: Send
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

// Reported by a client that knows, such as the one for browsers.
const mayBeForbidden = (error: unknown): boolean =>
  causes(error).some((cause) => Predicate.hasProperty(cause, "hint") && cause.hint === "cors")

/** The error for a request without a response, or with a part of one. */
export const failed = (
  { config }: Caller,
  { cause, head }: Pick<Unanswered, "cause" | "head">,
  attempts: number
): ConnectionFailed => {
  const code = systemCode(cause)
  return new ConnectionFailed({
    peer: "service",
    origin: new URL(config.baseUrl).origin,
    ...(code === undefined ? {} : { code }),
    ...(mayBeForbidden(cause) ? { hint: "cors" as const } : {}),
    arrived: head === undefined ? arrivalOf(cause) : "unknown",
    attempts
  })
}

/** What a client fails with, in the words of the port. */
export const unanswered = (error: HttpClientError.HttpClientError): Pick<Unanswered, "cause" | "head"> => ({
  cause: error,
  head: error._tag === "ResponseError" ? error.response : undefined
})

/** The time of an attempt was up. */
interface Late {
  readonly _tag: "Late"
}

const late: Late = { _tag: "Late" }

/** One attempt of a call. */
export interface Attempt {
  readonly number: number
  /** How long it may take. */
  readonly limit: Duration.Duration
  readonly clock: Clock.Clock
  /** When its request was sent, for a response received at a given time. Both are in milliseconds of our clock. */
  readonly sentAt: (receivedAt: number) => number
  /** Passes on what the headers of a response say. */
  readonly heard: (request: HttpClientRequest.HttpClientRequest, head: Head) => Effect.Effect<void>
}

/** Sends a request, and passes on what the headers of its response say. */
export const execute = (
  caller: Caller,
  request: HttpClientRequest.HttpClientRequest,
  { heard, number }: Attempt
): Effect.Effect<HttpClientResponse.HttpClientResponse, ConnectionFailed, Scope.Scope> =>
  HttpClient.withScope(caller.client).execute(request).pipe(
    Effect.mapError((error) => failed(caller, unanswered(error), number)),
    Effect.tap((response) => heard(request, response))
  )

/** Ends an attempt once its time is up. */
export const within = <A, E, R>(attempt: Effect.Effect<A, E, R>, { limit }: Attempt): Effect.Effect<A, E | Late, R> =>
  untilTimer(attempt, limit, Effect.fail(late))

/** A response with this much of its body. */
export const answerOf = (
  { allowInsecureHttp, config: { token } }: Caller,
  operation: string,
  { headers, status }: Head,
  { clock, number, sentAt }: Attempt,
  { body = "", path }: { readonly body?: string; readonly path?: string | undefined } = {}
): ServiceAnswer => {
  const receivedAt = clock.unsafeCurrentTimeMillis()
  return {
    operation,
    status,
    headers,
    ...(path === undefined ? {} : { path }),
    body,
    sentAt: sentAt(receivedAt),
    receivedAt,
    attempts: number,
    allowInsecureHttp,
    token
  }
}

const utf8 = new TextDecoder()

/** The most bytes of a response that is read as a whole, three times the size of ten thousand signed URLs. */
export const longestAnswer = 67_108_864

const pathOf = ({ url }: HttpClientRequest.HttpClientRequest): string =>
  url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/[?#].*$/, "")

const read = (
  caller: Caller,
  operation: string,
  answered: Answered,
  attempt: Attempt,
  path: string
): Effect.Effect<ServiceAnswer, ServiceError> => {
  const tooLong = () =>
    Effect.fail(invalid(answerOf(caller, operation, answered, attempt), "", `more than ${longestAnswer} bytes`))
  return answered.body.byteLength > longestAnswer
    ? tooLong()
    : Effect.flatMap(
      decoded(answered.headers, { bytes: answered.body, isStart: false, longest: longestAnswer }),
      (bytes) => {
        const body = utf8.decode(bytes)
        return body.length > longestAnswer
          ? tooLong()
          : Effect.succeed(answerOf(caller, operation, answered, attempt, { body, path }))
      }
    )
}

const answerTo = (
  caller: Caller,
  operation: string,
  request: HttpClientRequest.HttpClientRequest,
  attempt: Attempt,
  connect: Duration.Duration
): Effect.Effect<ServiceAnswer, ServiceError | Late> =>
  Effect.matchEffect(caller.send(request, { deadline: attempt.limit, connect, longest: longestAnswer }), {
    onSuccess: (answered) =>
      Effect.zipRight(attempt.heard(request, answered), read(caller, operation, answered, attempt, pathOf(request))),
    onFailure: (broken) =>
      Effect.zipRight(
        broken.head === undefined ? Effect.void : attempt.heard(request, broken.head),
        Effect.fail(broken.late ? late : failed(caller, broken, attempt.number))
      )
  })

/** More characters than any link has, or any explanation of why there is none. */
export const longestLink = 262_144

/** The answer for what may be as large as a file: anything beyond {@link longestLink} is not read. */
export const readStart = (
  caller: Caller,
  operation: string,
  response: HttpClientResponse.HttpClientResponse,
  attempt: Attempt
): Effect.Effect<ServiceAnswer, ConnectionFailed> =>
  answerStart(response, longestLink, (error) => failed(caller, unanswered(error), attempt.number)).pipe(
    Effect.flatMap((bytes) =>
      decoded(response.headers, { bytes, isStart: bytes.byteLength > longestLink, longest: longestLink })
    ),
    Effect.map((bytes) =>
      answerOf(caller, operation, response, attempt, { body: utf8.decode(bytes), path: pathOf(response.request) })
    )
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

/**
 * Makes every call: through the rate limit gate, within the timeouts, and retried if that helps, is safe and fits the
 * budget. What counts against the total is what the attempts and the waits between them take, not what the gate does.
 */
export const repeatedly = <A, R>(
  caller: Caller,
  endpoint: { readonly operation: string; readonly repeatable: boolean },
  attempt: (attempt: Attempt, limits: Timeouts.Limits) => Effect.Effect<A, ServiceError | Late, R>
): Effect.Effect<A, ServiceError, R> =>
  Effect.contextWithEffect((context: Context.Context<never>) =>
    Effect.clockWith((clock) => {
      const { operation } = endpoint
      const limits = Context.get(context, Timeouts.Timeouts)
      const rateLimit = Context.get(context, RateLimit.RateLimit) ?? caller.rateLimit
      const { isWanted } = Context.get(context, RetryPolicy.RetryPolicy)
      const call = Duration.toMillis(limits.call)
      let left = Duration.toMillis(limits.total)
      let last = 0
      let mayHaveArrived = false
      const timedOut = (phase: "call" | "total") =>
        new TimedOut({ peer: "service", phase, after: limits[phase], attempts: last })
      const made = (number: number, answered: (answer: RateLimit.Answer) => Effect.Effect<void>) =>
        Effect.suspend(() => {
          const began = monotonicMillis(clock)
          const limit = Math.min(call, left)
          const sent = Metrics.countAttempt(operation).pipe(
            Effect.zipRight(attempt({
              number,
              limit: Duration.millis(limit),
              clock,
              sentAt: sentNow(clock),
              heard: ({ method, url }, { headers, status }) =>
                Effect.zipRight(
                  answered({ status, headers }),
                  caller.noteDeprecation({ method, path: url, headers })
                )
            }, limits)),
            Effect.mapError((error): ServiceError => {
              const took = monotonicMillis(clock) - began
              // the computer slept: that is nobody's delay, and the whole time is given again
              const slept = took - limit >= longestLateness
              left = slept ? Duration.toMillis(limits.total) : left - took
              return error._tag === "Late" ? timedOut(slept || limit === call ? "call" : "total") : error
            })
          )
          return isWanted === undefined
            ? sent
            : Effect.flatMap(isWanted, (wanted) => wanted ? sent : Effect.fail(timedOut("total")))
        })
      return Effect.mapError(
        RetryPolicy.retry(
          (number) => {
            last = number
            return rateLimit.pass((answered) => made(number, answered), { operation, attempt: number })
          },
          {
            while: (error) => {
              mayHaveArrived ||= !wasNotCarriedOut(error)
              return !(error._tag === "TimedOut" && error.phase === "total") &&
                (endpoint.repeatable || wasNotCarriedOut(error))
            },
            onRetry: (error, wait) => {
              const rest = Math.ceil(left)
              left -= Duration.toMillis(wait)
              const over = left > 0 ? Effect.void : Effect.flatMap(Effect.sleep(rest), () => timedOut("total"))
              return Effect.zipRight(tellRepeat(`of ${operation}`, error, wait), over)
            },
            budget: caller.budget
          }
        ),
        (error): ServiceError => mayHaveArrived && "issues" in error ? changedError(error, { mayHaveArrived }) : error
      )
    })
  ).pipe(span(endpoint.operation))

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
  const noted = <Output>(output: Output): Output => {
    const urls = urlsOf(output)
    if (urls.length > 0) issued = urls.concat(issued).slice(0, mostIssued)
    return output
  }
  return <Input, Output>(endpoint: Endpoints.Endpoint<Input, Output>) =>
  (input: Input): Effect.Effect<Output, ServiceError> =>
    repeatedly(
      caller,
      endpoint,
      (attempt, { connect }) =>
        answerTo(caller, endpoint.operation, endpoint.request(caller.config.profile, input), attempt, connect).pipe(
          Effect.flatMap((answer) => endpoint.respond(caller.config.profile, { ...answer, issued }, input)),
          Effect.map(noted)
        )
    )
}
