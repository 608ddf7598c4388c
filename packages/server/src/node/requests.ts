/** Each request of a server of Node, from its head to its end: its id, its line in the log, and what is counted. */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashMap from "effect/HashMap"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Observer } from "../Observer.js"
import * as ServerMetrics from "../base/metrics.js"
import { memoized } from "../base/memoized.js"
import { requestIdOf, shownPath } from "../base/text.js"

/** What the app finds out about a request. */
interface Known {
  route: string
  tenant: string | undefined
}

const PROBES = ["/livez", "/readyz", "/metrics"]

const header = ({ headers }: IncomingMessage): string | undefined => {
  const given = headers["x-request-id"]
  return typeof given === "string" ? given : undefined
}

/** The id that a request has, and every line about it. */
export const idOf = (request: IncomingMessage) => ({ request_id: header(request) ?? "" })

/** What a connection has carried since its last request ended. */
const carried = (counted: WeakMap<Socket, { readonly read: number; readonly written: number }>, socket: Socket) => {
  const before = counted.get(socket) ?? { read: 0, written: 0 }
  const now = { read: socket.bytesRead, written: socket.bytesWritten }
  counted.set(socket, now)
  return { bytesIn: now.read - before.read, bytesOut: now.written - before.written }
}

interface Ended extends Known, ReturnType<typeof carried> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly millis: number
}

/** Of a client that went away before anything was answered, the status is 499. */
const line = ({ bytesIn, bytesOut, millis, request, response, tenant }: Ended) => {
  const path = shownPath(request.url ?? "")
  const status = response.headersSent ? response.statusCode : 499
  return Effect.logWithLevel(
    PROBES.includes(path) && status < 400 ? LogLevel.Debug : LogLevel.Info,
    "request"
  ).pipe(
    Effect.annotateLogs({
      ...idOf(request),
      method: request.method,
      path,
      status,
      ms: millis,
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      ...(tenant === undefined ? {} : { tenant }),
      ...(response.writableFinished ? {} : { broken_off: true })
    })
  )
}

const seconds = memoized((route) => Metric.tagged(ServerMetrics.requestSeconds, "route", route))

const counted = ({ bytesIn, bytesOut, millis, route }: Ended) =>
  Effect.sync(() => {
    seconds(route).unsafeUpdate(millis / 1000, [])
    ServerMetrics.receivedBytes.unsafeUpdate(bytesIn, [])
    ServerMetrics.sentBytes.unsafeUpdate(bytesOut, [])
    ServerMetrics.requestsInFlight.unsafeModify(-1, [])
  })

/**
 * What an app is run in for its requests to be watched: its log and its spans have the id of the request, which is told to
 * whoever asked.
 */
export const watched = (
  { requestLog = false }: { readonly requestLog?: boolean | undefined }
): Effect.Effect<<E, R>(app: HttpApp.Default<E, R>) => HttpApp.Default<E, R>> =>
  Effect.zipWith(Effect.runtime<never>(), FiberRef.get(FiberRef.currentMinimumLogLevel), (runtime, least) => {
    const hasLine = requestLog && LogLevel.lessThanEqual(least, LogLevel.Info)
    const sockets = new WeakMap<Socket, { readonly read: number; readonly written: number }>()
    return (app) =>
      Effect.gen(function*() {
        const asked = yield* HttpServerRequest.HttpServerRequest
        const request = NodeHttpServerRequest.toIncomingMessage(asked)
        const response = NodeHttpServerRequest.toServerResponse(asked)
        const id = yield* requestIdOf(header(request))
        const begun = yield* Clock.currentTimeMillis
        // of all servers of the process
        ServerMetrics.requestsInFlight.unsafeModify(1, [])
        request.headers["x-request-id"] = id
        response.setHeader("x-request-id", id)
        const known: Known = { route: "other", tenant: undefined }
        const { socket } = request
        response.once("close", () => {
          const ended = Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const what = { ...known, ...carried(sockets, socket), request, response, millis: now - begun }
            return Effect.zipRight(counted(what), hasLine ? line(what) : Effect.void)
          })
          Runtime.runFork(runtime)(ended)
        })
        // of the fiber: it is the request's own
        const named = (before: HashMap.HashMap<string, unknown>) => HashMap.set(before, "request_id", id)
        yield* FiberRef.update(FiberRef.currentLogAnnotations, named)
        yield* FiberRef.update(FiberRef.currentTracerSpanAnnotations, named)
        const observer = yield* Observer
        const knowing = Context.add(Observer, {
          ...observer,
          routed: (route) =>
            Effect.suspend(() => {
              known.route = route
              return observer.routed(route)
            }),
          authorized: (tenant) =>
            Effect.suspend(() => {
              known.tenant = tenant
              return observer.authorized(tenant)
            })
        })
        yield* FiberRef.update(FiberRef.currentContext, knowing)
        return yield* app
      })
  })
