/** The connections of a server of Node: no client keeps one for longer than it has a use for it. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { pathOf } from "../base/text.js"
import * as NodeRequests from "./requests.js"

/** How long a client may take, and how many there may be. */
export interface Limits {
  /** For the head of a request; also for a connection that sends nothing. Defaults to 30 seconds. */
  readonly head?: Duration.DurationInput | undefined
  /** Without a byte of a body that is awaited, or of an answer that is taken. Defaults to a minute. */
  readonly silence?: Duration.DurationInput | undefined
  /** How long the rest of a body is dropped that was answered before its end. Defaults to 10 seconds. */
  readonly linger?: Duration.DurationInput | undefined
  /** Connections at once; more are closed as they come. Defaults to 4096. */
  readonly connections?: number | undefined
}

const millis = (limit: Duration.DurationInput | undefined, usual: Duration.DurationInput) =>
  Duration.toMillis(limit ?? usual)

/** What Node itself limits. Its limit of a whole request would be one of its body, which may be long. */
export const settings = ({ head }: Limits): ServerOptions => {
  const headersTimeout = millis(head, "30 seconds")
  return {
    requestTimeout: 0,
    // otherwise that of a whole request
    headersTimeout,
    connectionsCheckingInterval: Math.max(50, headersTimeout / 6),
    keepAliveTimeout: 65_000
  }
}

/** Whether it is for the client to send, or to take what is sent. */
const awaitsClient = ({ req, writableLength }: ServerResponse): boolean =>
  writableLength > 0 || (!req.complete && req.readableLength < req.readableHighWaterMark)

/**
 * A body that its reader has given up is read on and dropped: with its connection broken off, whoever still sends it would
 * lose the answer.
 */
const droppedInstead = (request: IncomingMessage) => {
  const destroy = request.destroy.bind(request)
  request.destroy = (error) => {
    if (error !== undefined || request.complete || request.socket.destroyed) return destroy(error)
    return request.removeAllListeners("data").resume()
  }
}

/** Closes every connection that has no request. @internal */
export type CloseIdle = Effect.Effect<void>

/** Watches the connections of a server, before it listens. */
export const watched = (server: Server, limits: Limits): Effect.Effect<CloseIdle> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const silence = millis(limits.silence, "1 minute")
    const linger = millis(limits.linger, "10 seconds")
    const sockets = new Set<Socket>()
    const underWay = new Set<ServerResponse>()
    const responsesOf = (socket: Socket) => [...underWay].filter(({ req }) => req.socket === socket)

    server.maxConnections = limits.connections ?? 4096
    // Node measures silence, and knows what is still being written
    server.timeout = silence
    server.on("connection", (socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    server.on("request", (request, response) => {
      underWay.add(response)
      droppedInstead(request)
      response.once("close", () => {
        underWay.delete(response)
        if (request.complete || request.socket.destroyed) return
        const timer = setTimeout(() => request.socket.destroy(), linger)
        request.once("close", () => clearTimeout(timer))
      })
    })
    server.on("timeout", (socket) => {
      const responses = responsesOf(socket)
      if (responses.length > 0 && !responses.some(awaitsClient)) return socket.setTimeout(silence)
      socket.destroy()
      for (const { req } of responses) {
        const path = pathOf(req.url ?? "")
        Runtime.runFork(runtime)(
          Effect.logWarning(`${req.method} ${path}: its client was silent for ${silence / 1000} s, and is cut off`)
            .pipe(Effect.annotateLogs(NodeRequests.idOf(req)))
        )
      }
    })
    return Effect.sync(() => {
      for (const socket of sockets) {
        // what is not written yet is an answer
        if (socket.writableLength === 0 && responsesOf(socket).length === 0) socket.destroy()
      }
    })
  })
