/** A service behind a port of Node: health beside its app, and an end that lets what is under way end. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { Server } from "node:http"
import { drained } from "../base/drained.js"
import { logged } from "../base/requestLog.js"
import { prefixOf } from "../base/text.js"
import { traced } from "../base/traced.js"
import { wholeAnswer } from "../http/wholeAnswer.js"
import * as NodeMetrics from "../NodeMetrics.js"
import * as OperationsApp from "../OperationsApp.js"
import * as ServiceRefused from "../ServiceRefused.js"
import * as NodeConnections from "./connections.js"
import { listening, type ServeFailed } from "./listening.js"
import * as NodeRequests from "./requests.js"

export interface Options {
  /** What stands before every path of the interface. Defaults to nothing. */
  readonly basePath?: string | undefined
  /** Defaults to `127.0.0.1`: this machine alone. */
  readonly host?: string | undefined
  /** Defaults to 0: any free port. */
  readonly port?: number | undefined
  /** How long requests under way may still take when the service ends. Defaults to 30 seconds. */
  readonly drain?: Duration.DurationInput | undefined
  /** A port for `/metrics` alone, which the other one has no longer. Defaults to none. */
  readonly metricsPort?: number | undefined
  /** Whether each request has a line in the log, when it is over. Defaults to no. */
  readonly requestLog?: boolean | undefined
  /** How long a client may keep a connection, and how many there may be. */
  readonly limits?: NodeConnections.Limits | undefined
}

/** Takes no more connections, waits for the requests under way, and then closes what is left. */
const closed = (server: Server, closeIdle: NodeConnections.CloseIdle, drain: Duration.DurationInput | undefined) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
  }).pipe(
    // a connection that is kept alive is idle only when its request is over
    Effect.race(Effect.repeat(closeIdle, Schedule.spaced("50 millis"))),
    (ended) => drained(ended, drain),
    Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
  )

const ending = HttpServerResponse.unsafeJson({ errors: ServiceRefused.make(503, "InternalError").errors }, {
  status: 503,
  headers: { "retry-after": "2" }
})

/**
 * Listens until the scope closes, and answers with its origin. It is to be the last of all that is acquired: it is then the
 * first to end.
 */
export const listen = (
  app: HttpApp.Default,
  failing: Effect.Effect<ReadonlyArray<string>>,
  options: Options & Pick<OperationsApp.Options, "notes">
): Effect.Effect<string, ServeFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const state = { isEnding: false }
    // what comes on a connection that is still open is for another instance
    const taken = Effect.suspend(() =>
      state.isEnding
        ? Effect.flatMap(
          HttpServerRequest.HttpServerRequest,
          ({ method, url }) => Effect.as(logged({ method, url, status: 503 }, "The service ends"), ending)
        )
        : app
    )
    const operated = yield* OperationsApp.around(taken, {
      basePath: options.basePath,
      failing,
      notes: options.notes,
      metrics: options.metricsPort === undefined,
      isEnding: Effect.sync(() => state.isEnding)
    })
    const whole = Effect.map(
      wholeAnswer(operated),
      (answer) => state.isEnding ? HttpServerResponse.setHeader(answer, "connection", "close") : answer
    )
    const limits = options.limits ?? {}
    const server = createServer(NodeConnections.settings(limits))
    const known = yield* NodeRequests.watched(options)
    const handler = yield* Effect.locally(
      NodeHttpServer.makeHandler(known(traced(whole))),
      HttpMiddleware.currentTracerDisabledWhen,
      constTrue
    )
    const closeIdle = yield* NodeConnections.watched(server, limits)
    server.on("request", handler)
    // an IPv6 address may be written as in a URL
    const host = (options.host ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1")
    if (options.metricsPort !== undefined) yield* NodeMetrics.listen(host, options.metricsPort)
    yield* NodeMetrics.measuring
    const port = yield* Effect.acquireRelease(listening(server, host, options.port ?? 0, "port"), () => {
      state.isEnding = true
      return closed(server, closeIdle, options.drain)
    })
    const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
    return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`
  })

/** The base URL of an API at an origin. @internal */
export const baseUrl = (origin: string, basePath?: string): string => `${origin}${prefixOf(basePath)}`
