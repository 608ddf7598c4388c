import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { causes } from "@stevedore/core/ConnectionError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Proxy } from "../Proxy.js"

const dispatcher = ({ authorization, except, origin }: Proxy) =>
  Layer.scoped(
    NodeHttpClient.Dispatcher,
    Effect.acquireRelease(
      // all three are given: what is left out it would read from the environment by rules of its own
      Effect.sync(() =>
        new Undici.EnvHttpProxyAgent({
          httpProxy: origin,
          httpsProxy: origin,
          noProxy: `${except},localhost,127.0.0.1,[::1]`,
          ...Option.match(authorization, { onNone: () => ({}), onSome: (token) => ({ token: Redacted.value(token) }) })
        })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    )
  )

/** The status by which a proxy refused a tunnel: undici tells it in words alone. */
const refusal = (error: unknown): string | undefined => {
  for (const cause of causes(error)) {
    const [, status] = cause instanceof Error ? /^Proxy response \((\d{3})\)/.exec(cause.message) ?? [] : []
    if (status !== undefined) return status
  }
  return undefined
}

// A failure is told by its code, and "aborted" is all that this one's says
const withRefusals = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (effect, request) =>
    Effect.mapError(effect, (error) => {
      const status = refusal(error)
      return status === undefined ? error : new HttpClientError.RequestError({
        request,
        reason: "Transport",
        cause: { code: `PROXY_ANSWERED_${status}`, cause: error }
      })
    }))

// undici writes the host into the headers that it is given, and those of requests without any are one object for all
const withOwnHeaders = HttpClient.mapRequest(HttpClientRequest.setHeaders({}))

/** A client through the proxy. In a module of its own, for it brings undici along. */
export const layer = (proxy: Proxy): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) => withOwnHeaders(withRefusals(client)))
  ).pipe(
    Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher),
    Layer.provide(dispatcher(proxy))
  )
