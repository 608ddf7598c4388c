import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"

const routeOf = ({ answer, method, path }: Route) =>
  HttpRouter.route(
    method,
    path,
    Effect.gen(function*() {
      const { params: { id = "" } } = yield* HttpRouter.RouteContext
      return yield* answer(yield* HttpServerRequest.HttpServerRequest, id)
    }),
    // what has begun is carried out, whether or not its client waits for it
    { uninterruptible: true }
  )

export const make = (
  prefix: HttpRouter.PathInput | "",
  routes: ReadonlyArray<Route>,
  unknownPath: HttpServerResponse.HttpServerResponse
): Effect.Effect<
  Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
> =>
  Effect.gen(function*() {
    const router = yield* HttpRouter.make
    yield* (prefix === "" ? router : router.prefixed(prefix)).addAll(routes.map(routeOf))
    return Effect.catch(
      Effect.scoped(router.asHttpEffect()),
      (error) =>
        HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"
          ? Effect.succeed(unknownPath)
          : Effect.die(error)
    )
  })
