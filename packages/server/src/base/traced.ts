import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { shownPath } from "./text.js"

/**
 * The span of each request. The platform's own records all of a URL and all headers of an answer: a pre-signed query, and
 * the pre-signed URL that a download is redirected to.
 */
export const traced = <E, R>(app: HttpApp.Default<E, R>): HttpApp.Default<E, R> => {
  const heard = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method, url }) =>
    app.pipe(
      Effect.tap(({ status }) => Effect.annotateCurrentSpan("http.response.status_code", status)),
      Effect.withSpan(`http.server ${method}`, {
        kind: "server",
        captureStackTrace: false,
        parent: Option.getOrUndefined(HttpTraceContext.fromHeaders(headers)),
        attributes: { "http.request.method": method, "url.path": shownPath(url) }
      })
    ))
  return Effect.flatMap(FiberRef.get(FiberRef.currentTracerEnabled), (isHeard) => isHeard ? heard : app)
}

const unheard = Context.get(DefaultServices.liveServices, Tracer.Tracer)

/** Without a span where nobody has a tracer: Effect's own makes one for each request and statement, and tells nobody. */
export const tracedForSomebody = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.tracer, (tracer) => Effect.withTracerEnabled(effect, tracer !== unheard))
