/** An answer is sent whole, or its connection ends, and the log says why. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { validateHeaderName, validateHeaderValue } from "node:http"
import { logged } from "../base/requestLog.js"
import * as ServiceRefused from "../ServiceRefused.js"
import * as StorageRequest from "../storage/request.js"

type Answer = HttpServerResponse.HttpServerResponse

/** As Node checks it, which throws while it writes. */
const checkHead = ({ headers }: Answer) =>
  Either.try({
    try: () =>
      Object.entries(headers).forEach(([name, value]) => {
        validateHeaderName(name)
        validateHeaderValue(name, value)
      }),
    catch: identity
  })

const isOfPage = (_: string, name: string) => name === "vary" || name.startsWith("access-control-")

const failed = (
  { method, url }: HttpServerRequest.HttpServerRequest,
  { headers }: Answer,
  cause: Cause.Cause<unknown>
) =>
  Effect.as(
    logged({ method, url, status: 500 }, cause),
    HttpServerResponse.unsafeJson({ errors: ServiceRefused.make(500, "InternalError").errors }, {
      status: 500,
      headers: Either.isRight(checkHead(HttpServerResponse.empty({ headers }))) ? Record.filter(headers, isOfPage) : {}
    })
  )

/** None at the end. */
const firstOf = <A, E, R>(pull: Effect.Effect<A, Option.Option<E>, R>): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.catchAll(
    Effect.asSome(pull),
    Option.match({ onNone: () => Effect.succeedNone, onSome: (error) => Effect.fail(error) })
  )

/**
 * What fails before the first byte is answered with 500. What fails later ends the connection: a client that was told a length
 * would wait for the rest of it.
 */
export const wholeAnswer = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R | Scope.Scope> =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const answer = yield* app
    const head = checkHead(answer)
    if (Either.isLeft(head)) return yield* failed(request, answer, Cause.fail(head.left))
    if (answer.body._tag !== "Stream" || request.method === "HEAD") return answer
    const { contentType, stream } = answer.body
    const length = answer.headers["content-length"]
    const pull = yield* Stream.toPull(length === undefined ? stream : StorageRequest.ofLength(stream, Number(length)))
    const first = yield* Effect.exit(Effect.interruptible(firstOf(pull)))
    if (Exit.isFailure(first)) return yield* failed(request, answer, first.cause)
    // the body is sent when the app is over
    const annotations = Object.fromEntries(yield* Effect.logAnnotations)
    const brokenOff = (cause: Cause.Cause<unknown>) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.void
        : Effect.zipRight(
          Effect.sync(() => NodeHttpServerRequest.toServerResponse(request).destroy()),
          logged({ method: request.method, url: request.url, status: "broken off" }, cause)
        ).pipe(Effect.annotateLogs(annotations))
    const body = Option.match(first.value, {
      onNone: () => Stream.empty,
      onSome: (chunk) => Stream.concat(Stream.fromChunk(chunk), Stream.repeatEffectChunkOption(pull))
    })
    return HttpServerResponse.setHeaders(
      HttpServerResponse.stream(Stream.tapErrorCause(body, brokenOff), { status: answer.status, contentType }),
      answer.headers
    )
  })
