/**
 * Breaking a connection. In process the client sees a transport error; over a socket the socket goes away.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * The connection is broken, so no answer goes out. `code` is what the operating system would call it; `cause` is there when it
 * broke because the body could not be read on.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionBroken extends Schema.TaggedError<ConnectionBroken>("@stevedore/testing/ConnectionBroken")(
  "ConnectionBroken",
  {
    code: Schema.Literal("ECONNRESET", "ENOTFOUND"),
    cause: Schema.optional(Schema.Defect)
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

/**
 * Breaks the connection under a request, as far as the platform lets one: it is done by the request's own socket, which is
 * recognized by its methods, so that this module runs where there are no sockets too. Gives whether it was broken.
 *
 * `how` is `reset` for a connection that is gone at once, with everything on its way, and `flush` for one that ends after
 * what was already written has arrived.
 *
 * @since 0.1.0
 * @category combinators
 */
export const destroy = (
  request: HttpServerRequest.HttpServerRequest,
  how: "reset" | "flush"
): Effect.Effect<boolean> =>
  Effect.sync(() => {
    const source = request.source
    const socket = Predicate.hasProperty(source, "socket") ? source.socket : undefined
    return call(socket, how === "reset" ? "resetAndDestroy" : "destroySoon") || call(source, "destroy")
  })

/**
 * Makes an app that breaks connections one that a socket server can serve. The handler stays interruptible, so a client that
 * goes away ends it. Where the socket cannot be reached, the client gets an empty 502.
 *
 * @since 0.1.0
 * @category combinators
 */
export const overSockets = <R>(
  app: HttpApp.Default<ConnectionBroken, R>
): HttpApp.Default<never, R> =>
  Effect.catchTag(Effect.interruptible(app), "ConnectionBroken", () =>
    HttpServerRequest.HttpServerRequest.pipe(
      Effect.flatMap((request) => destroy(request, "reset")),
      // the server interrupts the handler of a closed connection by itself
      Effect.flatMap((broken) =>
        broken ? Effect.interruptible(Effect.never) : HttpServerResponse.empty({ status: 502 })
      )
    ))
