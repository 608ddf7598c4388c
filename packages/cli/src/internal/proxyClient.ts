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
      // all three are given: undici would read missing ones from the environment by its own rules
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

/** The status with which a proxy refused a tunnel: undici reports it only in its message. */
const refusal = (error: unknown): string | undefined => {
  for (const cause of causes(error)) {
    const [, status] = cause instanceof Error ? /^Proxy response \((\d{3})\)/.exec(cause.message) ?? [] : []
    if (status !== undefined) return status
  }
  return undefined
}

// A failure is reported by its code, and this one's code says only "aborted"
const withRefusals = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (effect, request) =>
    Effect.mapError(effect, (error) => {
      const status = refusal(error)
      return status === undefined ? error : new HttpClientError.RequestError({
        request,
        reason: "Transport",
        // without a tunnel, the request went nowhere
        cause: { code: `PROXY_ANSWERED_${status}`, arrived: "no", cause: error }
      })
    }))

// undici writes the host into the headers that it receives, and all requests without headers share one object
const withOwnHeaders = HttpClient.mapRequest(HttpClientRequest.setHeaders({}))

/** A client through the proxy. In its own module because it loads undici. */
export const layer = (proxy: Proxy): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) => withOwnHeaders(withRefusals(client)))
  ).pipe(
    Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher),
    Layer.provide(dispatcher(proxy))
  )
