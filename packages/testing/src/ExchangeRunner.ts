/**
 * Runs every request through the same gate: it is recorded, the interceptor is called, the fault is applied, and the
 * headers that every response has are set.
 *
 * @since 0.1.0
 */
import * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { retryAfter } from "@stevedore/core/RateLimit"
import * as Identifiers from "@stevedore/server/Identifiers"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "./Connection.js"
import type * as Exchange from "./Exchange.js"
import * as Fault from "./Fault.js"
import type { Bytes } from "./internal/bodyFault.js"
import * as BodyFault from "./internal/bodyFault.js"
import type { Settings } from "./SandboxOptions.js"
import type * as SandboxRecorder from "./SandboxRecorder.js"

/**
 * What an app says about a request. `continued` is for lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface Described {
  readonly operation: Exchange.Operation | "preflight" | "unknown"
  readonly fileId?: string | undefined
  readonly part?: number | undefined
  readonly continued?: boolean | undefined
}

/**
 * What a handler works with. `body` is the request's body, as much of it as arrives; `serverTime` is in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tools {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly body: Stream.Stream<Uint8Array, Connection.ConnectionBroken>
  readonly serverTime: number
  readonly requestId: string
  readonly recording: SandboxRecorder.Recording
  readonly fault: Option.Option<Fault.Fault>
}

/**
 * What an app does with a request that may pass.
 *
 * @since 0.1.0
 * @category models
 */
export type Handler = (
  tools: Tools
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Connection.ConnectionBroken>

/**
 * One of the two servers: its name, the header for its request ids, and how it renders a refusal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Server {
  readonly name: "api" | "storage"
  readonly requestIdHeader: string
  readonly refuse: (fault: Fault.Answer, requestId: string) => HttpServerResponse.HttpServerResponse
}

/**
 * Runs one request through the gate: recorded, interfered with, handled, answered.
 *
 * @since 0.1.0
 * @category models
 */
export type Run = (
  described: Described,
  handler: Handler
) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Connection.ConnectionBroken,
  HttpServerRequest.HttpServerRequest
>

const broken = (bodyFailure?: unknown) => new Connection.ConnectionBroken({ code: "ECONNRESET", bodyFailure })

const counted = (body: Bytes, count: (bytes: number) => void): Bytes =>
  Stream.map(body, (chunk) => {
    count(chunk.byteLength)
    return chunk
  })

const declaresBody = (request: HttpServerRequest.HttpServerRequest): boolean =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0

const html = (status: number): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    `<html>\r\n<head><title>${status}</title></head>\r\n<body>\r\n<center><h1>${status}</h1></center>\r\n</body>\r\n</html>`,
    { status, contentType: "text/html" }
  )

const answeredBy = ({ headers, status }: HttpServerResponse.HttpServerResponse): SandboxRecorder.Answered => ({
  status,
  etag: headers["etag"]
})

const isReading = (operation: Described["operation"]): boolean => operation === "get" || operation === "download"

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse): Bytes =>
  body._tag === "Stream"
    ? Stream.mapError(body.stream, (cause) => broken(cause))
    : body._tag === "Uint8Array"
    ? Stream.succeed(body.body)
    : Stream.empty

const withAnswerBody = (
  response: HttpServerResponse.HttpServerResponse,
  bytes: Bytes,
  recording: SandboxRecorder.Recording
): HttpServerResponse.HttpServerResponse => {
  const { contentLength, contentType } = response.body
  const sent = Stream.tapError(
    counted(bytes, recording.sent),
    () => Effect.sync(() => recording.finish("broken", answeredBy(response)))
  )
  return HttpServerResponse.stream(sent, {
    status: response.status,
    headers: response.headers,
    contentType,
    ...(contentLength === undefined ? {} : { contentLength })
  })
}

const passedAnswer = (
  response: HttpServerResponse.HttpServerResponse,
  recording: SandboxRecorder.Recording
): HttpServerResponse.HttpServerResponse => {
  if (response.body._tag === "Stream") {
    return withAnswerBody(response, bytesOf(response), recording)
  }
  recording.sent(response.body.contentLength ?? 0)
  return response
}

// judged as of its arrival, and stored when nobody is waiting for it any more
const landLate = (tools: Tools, handler: Handler, { duration }: Fault.LandLate) =>
  tools.body.pipe(
    // the owner of a chunk may reuse its memory
    Stream.map((chunk) => new Uint8Array(chunk)),
    Stream.runCollect,
    Effect.flatMap((chunks) =>
      Effect.forkDaemon(Effect.delay(handler({ ...tools, body: Stream.fromChunk(chunks) }), duration))
    )
  )

// HTTP gives these no body, whatever was written: a server over sockets leaves it out
const withoutBodyOf = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status === 204 || response.status === 304 ? HttpServerResponse.setBody(response, HttpBody.empty) : response

const withoutEtag = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setBody(
    HttpServerResponse.empty({ status: response.status, headers: Headers.remove(response.headers, "etag") }),
    response.body
  )

/**
 * The gate of one server.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  settings: Settings,
  recorder: SandboxRecorder.SandboxRecorder,
  server: Server
): Run =>
(described, handler) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = yield* Identifiers.requestId
    const clock = Effect.map(Clock.currentTimeMillis, (now) => now + settings.clockOffsetMillis)
    const { operation } = described
    const length = request.headers["content-length"]
    const recording = recorder.arrived({
      server: server.name,
      operation,
      method: request.method,
      target: request.originalUrl.startsWith("/") ? request.originalUrl : request.url,
      fileId: described.fileId,
      part: described.part,
      headerNames: Object.keys(request.headers),
      contentType: request.headers["content-type"],
      at: yield* clock
    })

    const destroyed = (how: "reset" | "flush") =>
      Effect.zipRight(Connection.destroy(request, how), Effect.failSync(() => broken()))
    const breakConnection = destroyed(isReading(operation) ? "flush" : "reset")

    const notReading = Effect.suspend(() => {
      if (Connection.isOverSocket(request)) recording.unheard()
      return Effect.never
    })

    const interrupted = (body: Bytes, { bytes, happens }: BodyFault.BodyFault) =>
      BodyFault.interruptAfter(body, bytes, happens === "silence" ? notReading : breakConnection)

    // a handler that responds met no fault in the request's body: there is none, or it has no more bytes, or it was not
    // read
    const faultyAnswer = (
      response: HttpServerResponse.HttpServerResponse,
      { bytes, happens }: BodyFault.BodyFault
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, Connection.ConnectionBroken> => {
      const size = BodyFault.answerLength(request.method, response)
      if (size === 0) {
        return happens === "silence" ? Effect.never : breakConnection
      }
      const interruption = happens === "silence"
        ? Effect.onInterrupt(Effect.never, () => Effect.sync(() => recording.finish("aborted", answeredBy(response))))
        : destroyed("flush")
      const body = BodyFault.interruptAfter(bytesOf(response), Math.min(bytes, size - 1), interruption)
      return Effect.succeed(withAnswerBody(response, body, recording))
    }

    const handled = Effect.gen(function*() {
      const fault = operation === "preflight" || operation === "unknown"
        ? Option.none()
        : yield* settings.interceptor({
          operation,
          fileId: described.fileId,
          part: described.part,
          attempt: recording.attempt,
          continued: described.continued ?? false,
          contentLength: length === undefined ? undefined : Number(length)
        })
      const found = Option.getOrUndefined(fault)
      const bodyFault = BodyFault.of(found)

      switch (found?._tag) {
        case "Answer":
          recording.refused(found.status, found.code ?? "")
          return server.refuse(found, requestId)
        case "SlowDown":
          return server.refuse(new Fault.Answer({ status: 503, code: "SlowDown" }), requestId)
        case "Html":
          recording.refused(found.status, "")
          return html(found.status)
        case "Reset":
          if (found.afterBytes === undefined) {
            return yield* breakConnection
          }
          break
        case "Stall":
          if (found.phase === "connect") {
            return yield* notReading
          }
          break
        case "Delay":
          yield* Effect.sleep(found.duration)
      }

      const incoming = declaresBody(request)
        ? Stream.mapError(request.stream, ({ cause }) => broken(cause))
        : Stream.empty
      const tools: Tools = {
        request,
        body: counted(bodyFault === undefined ? incoming : interrupted(incoming, bodyFault), recording.received),
        serverTime: yield* clock,
        requestId,
        recording,
        fault
      }
      if (found?._tag === "LandLate") {
        yield* landLate(tools, handler, found)
        return yield* breakConnection
      }
      const response = yield* handler(tools)

      if (found?._tag === "LoseAnswer") {
        return yield* breakConnection
      }
      if (found?._tag === "Stall" && found.phase === "answer") {
        return yield* Effect.never
      }
      const answer = found?._tag === "OmitEtag" ? withoutEtag(response) : response
      return bodyFault === undefined ? passedAnswer(answer, recording) : yield* faultyAnswer(answer, bodyFault)
    })

    const response = yield* Effect.onExit(handled, (exit) =>
      Effect.sync(() =>
        recording.finish(
          Exit.isSuccess(exit) ? "answered" : Cause.isInterrupted(exit.cause) ? "aborted" : "broken",
          Exit.isSuccess(exit) ? answeredBy(exit.value) : undefined
        )
      ))
    const now = yield* clock
    const wait = retryAfter(response.headers, now)
    if (wait !== undefined) {
      recording.retryAfter(response.status, now + Duration.toMillis(wait))
    }
    return HttpServerResponse.setHeaders(withoutBodyOf(response), {
      date: new Date(now).toUTCString(),
      [server.requestIdHeader]: requestId
    })
  })
