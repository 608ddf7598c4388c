import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy, ServiceApi, Timeouts } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Config, Effect, Layer, Redacted } from "effect"
import * as StorageServer from "./support/storageServer.js"
import * as TcpServer from "./support/tcpServer.js"

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

  it.scopedLive("a session is requested as often as the policy allows if its connections end before TLS is established", () =>
    Effect.gen(function*() {
      let made = 0
      const port = yield* TcpServer.serve((socket) => {
        made++
        socket.on("error", () => undefined).once("data", () => socket.resetAndDestroy())
      })
      // in its options, the order of a merge decides nothing
      const node = Layer.merge(
        RetryPolicy.layer({ attempts: 2, base: "1 millis" }),
        NodeStevedore.layer({
          ...nothingWrittenDown,
          baseUrl: `https://127.0.0.1:${port}`,
          token,
          retry: RetryPolicy.layer({ attempts: 3, base: "1 millis" })
        })
      )
      const error = yield* Effect.flatMap(
        ServiceApi.ServiceApi,
        (service) => service.initiateUpload({ name: "a.txt", mediaType: "text/plain", size: 1 })
      ).pipe(Effect.flip, Effect.provide(node))
      assert(error._tag === "ConnectionFailed")
      assert.deepStrictEqual([error.arrived, error.attempts, made], ["no", 3, 3])
    }))

  it.scopedLive("a download keeps no connection of an attempt that failed, even if its response never ended", () =>
    Effect.gen(function*() {
      const server = yield* StorageServer.serve(({ response }) => {
        const isLast = server.requests.length === 3
        response.writeHead(isLast ? 200 : 503, { "content-length": 1000 }).write("x")
      })
      const node = NodeStevedore.layer({
        ...nothingWrittenDown,
        baseUrl: server.origin,
        token,
        retry: RetryPolicy.layer({ base: "1 millis" }),
        timeouts: Timeouts.layer({ call: "100 millis" })
      })
      yield* Effect.gen(function*() {
        const { download } = yield* ServiceApi.ServiceApi
        yield* download("f1")
        yield* Effect.sleep("50 millis")
        assert.deepStrictEqual(server.connections(), { made: 3, open: 1 })
      }).pipe(Effect.scoped, Effect.provide(node))
    }))
})
