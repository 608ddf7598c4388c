/**
 * Runs every request to an app through the same gate: it is recorded, the interceptor is called, the fault is applied, and
 * the headers that every response has are set. The app knows nothing of it.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { retryAfter } from "@stevedore/core/RateLimit"
import type { ObserverService } from "@stevedore/server/Observer"
import { Observer } from "@stevedore/server/Observer"
import * as Identifiers from "@stevedore/server/parts/identifiers"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../Connection.js"
import type * as Exchange from "../Exchange.js"
import * as Fault from "../Fault.js"
import * as BodyFault from "../faults/bodyFault.js"
import type { Bytes } from "../faults/bodyFault.js"
import { PageFault } from "../faults/pageFaults.js"
import type { Settings } from "../SandboxOptions.js"
import * as InProcess from "./inProcess.js"
import type * as SandboxRecorder from "./recorder.js"

/**
 * What an app says about a request. `continued` is for lists.
 *
 * @category models
 */
export interface Described {
  readonly operation: Exchange.Operation | "preflight" | "unknown"
  readonly fileId?: string | undefined
  readonly part?: number | undefined
  readonly continued?: boolean | undefined
}

/**
 * One of the two servers: its app, its name, the header for its request ids, how it renders a refusal and an expired URL,
 * and how what the app tells its observer is recorded.
 *
 * @category models
 */
export interface Server {
  readonly name: "api" | "storage"
  readonly requestIdHeader: string
  readonly app: HttpApp.Default
  readonly refuse: (fault: Fault.Answer, requestId: string) => HttpServerResponse.HttpServerResponse
  /** What a URL that has expired is answered with; undefined at a server that has no such URLs. */
  readonly expired?:
    | ((
      recording: SandboxRecorder.Recording,
      now: number,
      requestId: string
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse>)
    | undefined
  readonly observer: (recording: SandboxRecorder.Recording) => ObserverService
}

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
  const { contentLength, contentType }: HttpBody.HttpBody.Proto = response.body
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
  const { _tag, contentLength = 0 }: HttpBody.HttpBody.Proto = response.body
  if (_tag === "Stream") {
    return withAnswerBody(response, bytesOf(response), recording)
  }
  recording.sent(contentLength)
  return response
}

// HTTP gives these no body, whatever was written: a server over sockets leaves it out
const withoutBodyOf = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.status === 204 || response.status === 304 ? HttpServerResponse.setBody(response, HttpBody.empty) : response

const withoutEtag = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setBody(
    HttpServerResponse.empty({ status: response.status, headers: Headers.remove(response.headers, "etag") }),
    response.body
  )

/** A clock that shows another time, and on which sleeping takes as long. */
const showing = (clock: Clock.Clock, time: (now: number) => number): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => time(clock.unsafeCurrentTimeMillis()),
  unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
  currentTimeMillis: Effect.map(clock.currentTimeMillis, time),
  currentTimeNanos: clock.currentTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/**
 * An effect of a server whose clock is off by `millis`.
 *
 * @category combinators
 */
export const withOffset = <A, E, R>(effect: Effect.Effect<A, E, R>, millis: number): Effect.Effect<A, E, R> =>
  millis === 0
    ? effect
    : Effect.clockWith((clock) => Effect.withClock(effect, showing(clock, (now) => now + millis)))

// the client makes its body by its own clock
const byClock = (body: Bytes, clock: Clock.Clock): Bytes =>
  Stream.unwrapScoped(
    Effect.map(Stream.toPull(body), (pull) => Stream.fromPull(Effect.succeed(Effect.withClock(pull, clock))))
  )

/**
 * The gate of one server. `describe` says what a request is before the app has seen it. The app fails where a fault breaks
 * the connection.
 *
 * @category constructors
 */
export const make = (
  settings: Settings,
  recorder: SandboxRecorder.SandboxRecorder,
  server: Server,
  describe: (request: HttpServerRequest.HttpServerRequest) => Described
): HttpApp.Default<Connection.ConnectionBroken> =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = yield* Identifiers.requestId
    const clock = Effect.map(Clock.currentTimeMillis, (now) => now + settings.clockOffsetMillis)
    const described = describe(request)
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

      if (found?._tag === "Expire" && server.expired !== undefined) {
        return yield* server.expired(recording, yield* clock, requestId)
      }

      const incoming = declaresBody(request)
        ? Stream.mapError(request.stream, ({ cause }) => broken(cause))
        : Stream.empty
      const body = counted(bodyFault === undefined ? incoming : interrupted(incoming, bodyFault), recording.received)
      // the app takes it for a body that cannot be read; the client shall see the connection break
      let failure: Connection.ConnectionBroken | undefined
      const noted = Stream.tapError(
        settings.clockOffsetMillis === 0 ? body : byClock(body, yield* Effect.clock),
        (error) =>
          Effect.sync(() => {
            failure = error
          })
      )
      const handle = (bytes: Bytes) =>
        server.app.pipe(
          Effect.provideService(HttpServerRequest.HttpServerRequest, InProcess.replaced(request, { body: bytes })),
          Effect.provideService(Observer, server.observer(recording)),
          Effect.provideService(PageFault, Option.getOrUndefined(Option.filter(fault, Fault.isPageFault)))
        )
      if (found?._tag === "LandLate") {
        // the owner of a chunk may reuse its memory
        const chunks = yield* Stream.runCollect(Stream.map(noted, (chunk) => new Uint8Array(chunk)))
        const arrived = yield* clock
        // judged as of its arrival, and stored when nobody is waiting for it any more
        const landing = Effect.clockWith((now) =>
          Effect.withClock(handle(Stream.fromChunk(chunks)), showing(now, () => arrived))
        )
        yield* Effect.forkDaemon(Effect.delay(landing, found.duration))
        return yield* breakConnection
      }
      const response = yield* withOffset(handle(noted), settings.clockOffsetMillis)
      if (failure !== undefined) return yield* failure

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
      [server.requestIdHeader]: response.headers[server.requestIdHeader] ?? requestId
    })
  })
