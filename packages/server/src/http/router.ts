import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"

export interface Route {
  readonly method: "DELETE" | "GET" | "POST"
  /** With `:id` in the place of an id. */
  readonly path: HttpRouter.PathInput
  /** Answers a request, given the id in its path; "" if it has none. */
  readonly answer: (
    request: HttpServerRequest.HttpServerRequest,
    id: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
}

const routeOf = ({ answer, method, path }: Route) =>
  HttpRouter.makeRoute(
    method,
    path,
    Effect.gen(function*() {
      const { params: { id = "" } } = yield* HttpRouter.RouteContext
      return yield* answer(yield* HttpServerRequest.HttpServerRequest, id)
    }),
    // what has begun is carried out, whether or not its client waits for it
    { uninterruptible: true }
  )

/** An app of routes that all begin with `prefix`, with an answer for every other path. */
export const make = (
  prefix: HttpRouter.PathInput | "",
  routes: ReadonlyArray<Route>,
  unknownPath: HttpServerResponse.HttpServerResponse
): Effect.Effect<HttpApp.Default> => {
  const router = HttpRouter.fromIterable(routes.map(routeOf))
  return (prefix === "" ? router : HttpRouter.prefixAll(router, prefix)).pipe(
    HttpRouter.toHttpApp,
    Effect.map(Effect.catchTag("RouteNotFound", () => Effect.succeed(unknownPath)))
  )
}
