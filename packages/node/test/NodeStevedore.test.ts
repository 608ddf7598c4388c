import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { ServiceApi } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer, Redacted } from "effect"

const baseUrl = "https://service.test/api"
const token = Redacted.make("api.secret")
const nothingWrittenDown = { ledger: false } as const

type Seen = Array<HttpClientRequest.HttpClientRequest>

/** Names the application, and answers in the place of the network. */
const named = (seen: Seen) => (client: HttpClient.HttpClient) =>
  client.pipe(
    HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", "archive/1.0")),
    HttpClient.transform((_, request) =>
      Effect.sync(() => {
        seen.push(request)
        return HttpClientResponse.fromWeb(request, Response.json({ data: { id: "t", subdomain: "acme" } }))
      })
    )
  )

const noNetwork = Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.die("there is no network")))

const layers: ReadonlyArray<readonly [string, (seen: Seen) => Layer.Layer<ServiceApi.ServiceApi, unknown>]> = [
  ["layer", (seen) => NodeStevedore.layer({ ...nothingWrittenDown, baseUrl, token, transformClient: named(seen) })],
  ["layerConfig", (seen) =>
    NodeStevedore.layerConfig({
      ...nothingWrittenDown,
      baseUrl: Config.succeed(baseUrl),
      token: Config.succeed(token),
      transformClient: named(seen)
    })],
  ["layerWithoutHttpClient", (seen) =>
    Layer.provide(
      NodeStevedore.layerWithoutHttpClient({ ...nothingWrittenDown, baseUrl, token, transformClient: named(seen) }),
      noNetwork
    )]
]

describe("NodeStevedore", () => {
  it.effect.each(layers)(
    "%s applies the `transformClient` option to the HTTP client of the service",
    ([_, layer]) =>
      Effect.gen(function*() {
        const seen: Seen = []
        yield* Effect.flatMap(ServiceApi.ServiceApi, (service) => service.tokenInfo).pipe(Effect.provide(layer(seen)))
        assert.deepStrictEqual(seen.map(({ headers, url }) => [url, headers["user-agent"]]), [
          ["https://service.test/api/v1/token/info", "archive/1.0"]
        ])
      })
  )
})
