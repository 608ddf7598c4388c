/** Breaks connections. In process, the client sees a transport error; over a socket, the socket is closed. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/**
 * The connection is broken, so no response is sent. `code` is the operating system's name for it; `bodyFailure` is set
 * if it broke because reading the body failed.
 *
 * @category errors
 */
export class ConnectionBroken extends Schema.TaggedError<ConnectionBroken>("@stevedore/testing/ConnectionBroken")(
  "ConnectionBroken",
  {
    code: Schema.Literal("ECONNRESET", "ENOTFOUND"),
    bodyFailure: Schema.optional(Schema.Defect)
  }
) {
  override get message(): string {
    return `${this.code}: the connection broke before the answer`
  }
}

const call = (target: unknown, method: string): boolean => {
  if (!Predicate.hasProperty(target, method)) {
    return false
  }
  const destroy = target[method]
  if (!Predicate.isFunction(destroy)) {
    return false
  }
  destroy.call(target)
  return true
}

const socketOf = ({ source }: HttpServerRequest.HttpServerRequest): unknown =>
  Predicate.hasProperty(source, "socket") ? source.socket : undefined

/**
 * Whether a request came over a socket, rather than within the process.
 *
 * @category predicates
 */
export const isOverSocket = (request: HttpServerRequest.HttpServerRequest): boolean => socketOf(request) !== undefined

const isDestroyed = (socket: unknown): boolean =>
  Predicate.hasProperty(socket, "destroyed") && socket.destroyed === true

/**
 * Breaks the connection of a request, if the platform allows it. It uses the request's own socket, which it recognizes
 * by its methods, so this module also runs where there are no sockets. Returns whether the connection was broken.
 *
 * `how` is `reset` to drop the connection at once with everything in transit, and `flush` to end it after what was
 * already written has arrived.
 *
 * @category combinators
 */
export const destroy = (
  request: HttpServerRequest.HttpServerRequest,
  how: "reset" | "flush"
): Effect.Effect<boolean> =>
  Effect.sync(() =>
    call(socketOf(request), how === "reset" ? "resetAndDestroy" : "destroySoon") || call(request.source, "destroy")
  )

/**
 * Turns an app that breaks connections into one that a socket server can serve. The handler stays interruptible, so it
 * ends when the client disconnects. If the socket is not reachable, the client gets an empty 502.
 *
 * @category combinators
 */
export const overSockets = <R>(
  app: HttpApp.Default<ConnectionBroken, R>
): HttpApp.Default<never, R> =>
  Effect.catchTag(Effect.interruptible(app), "ConnectionBroken", () =>
    HttpServerRequest.HttpServerRequest.pipe(
      Effect.flatMap((request) => destroy(request, "reset")),
      // the server itself interrupts the handler of a closed connection
      Effect.flatMap((broken) =>
        broken ? Effect.interruptible(Effect.never) : Effect.succeed(HttpServerResponse.empty({ status: 502 }))
      )
    ))

/**
 * An app whose connections break when the scope closes. A server's shutdown waits for them, and a stalled request would
 * keep its own forever: a server that does not read does not notice that its client has gone away.
 *
 * @category combinators
 */
export const endedByScope = <E, R>(
  app: HttpApp.Default<E, R>
): Effect.Effect<HttpApp.Default<E, R>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const requests = new Map<unknown, HttpServerRequest.HttpServerRequest>()
    yield* Effect.addFinalizer(() =>
      Effect.forEach(requests.values(), (request) => destroy(request, "reset"), { discard: true })
    )
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      for (const socket of requests.keys()) if (isDestroyed(socket)) requests.delete(socket)
      requests.set(socketOf(request), request)
      return app
    })
  })
