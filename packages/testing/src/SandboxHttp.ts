/**
 * Ways to reach a sandbox: within the process through an `HttpClient`, or over sockets as two HTTP apps to serve. Both
 * use the same apps.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as ObjectStore from "@stevedore/server/ObjectStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Connection from "./Connection.js"
import * as Sandbox from "./Sandbox.js"
import * as InProcess from "./sandbox/inProcess.js"
import type * as SandboxOptions from "./SandboxOptions.js"

/**
 * The two apps, for a server over sockets. They must be served at the origins that the sandbox was given, or the
 * signatures of its URLs are invalid.
 *
 * @category constructors
 */
export const apps = (sandbox: Sandbox.SandboxService): {
  readonly api: HttpApp.Default
  readonly storage: HttpApp.Default
} => ({
  api: Connection.overSockets(sandbox.api),
  storage: Connection.overSockets(sandbox.storage)
})

type Server = HttpServer.HttpServer

const originOf = (address: HttpServer.Address): string | undefined => {
  if (address._tag === "UnixAddress") {
    return undefined
  }
  // a server that listens on every address is reachable on the loopback
  const host = address.hostname === "0.0.0.0" || address.hostname === "::" ? "127.0.0.1" : address.hostname
  return `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`
}

/**
 * Makes a sandbox and serves it on two servers that are already listening, until the scope closes, which breaks their
 * connections. Its origins are the servers' addresses, unless the options name others (such as behind a proxy).
 *
 * By default, a Node server ends every request after five minutes: set `requestTimeout: 0`, or large uploads break.
 *
 * @category constructors
 */
export const serve = (
  servers: { readonly api: Server; readonly storage: Server },
  options?: SandboxOptions.Options
): Effect.Effect<Sandbox.SandboxService, never, ObjectStore.ObjectStore | Scope.Scope> =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.make({
      ...options,
      apiOrigin: options?.apiOrigin ?? originOf(servers.api.address),
      storageOrigin: options?.storageOrigin ?? originOf(servers.storage.address)
    })
    const { api, storage } = apps(sandbox)
    yield* servers.api.serve(yield* Connection.endedByScope(api))
    yield* servers.storage.serve(yield* Connection.endedByScope(storage))
    return sandbox
  })

/**
 * A client that reaches only the sandbox's two origins, within the process. There are no sockets, and the only waiting
 * is on Effect's `Clock`, so `TestClock` drives it. A broken connection, or a host that is not the sandbox's, is a
 * `RequestError` with the reason `Transport`.
 *
 * @category constructors
 */
export const client = (sandbox: Sandbox.SandboxService): HttpClient.HttpClient =>
  HttpClient.make((request, url) => {
    // if the body fails, that is the client's own error, and it gets it back unchanged
    const failed = (broken: Connection.ConnectionBroken) =>
      new HttpClientError.RequestError({
        request,
        reason: "Transport",
        description: broken.code,
        cause: broken.bodyFailure ?? broken
      })
    const app = url.origin === new URL(sandbox.apiOrigin).origin
      ? sandbox.api
      : url.origin === new URL(sandbox.storageOrigin).origin
      ? sandbox.storage
      : Effect.fail(new Connection.ConnectionBroken({ code: "ENOTFOUND" }))
    return app.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, InProcess.serverRequest(request, url)),
      Effect.mapBoth({
        onFailure: failed,
        onSuccess: (response) => InProcess.clientResponse(request, response)
      })
    )
  })

/**
 * {@link client} as a layer.
 *
 * @category layers
 */
export const layerClient: Layer.Layer<HttpClient.HttpClient, never, Sandbox.Sandbox> = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Sandbox.Sandbox, client)
)
