import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { fromConfigError, type InvalidInput } from "../InvalidInput.js"
import type { Proxy } from "../Proxy.js"

/**
 * A client that uses the proxy, except for this machine and for the hosts that `no_proxy` lists. Its connections end
 * with the layer.
 */
export const through = (proxy: Proxy): Layer.Layer<HttpClient.HttpClient> =>
  Layer.unwrapEffect(
    // most runs need no proxy, and the proxy client is a megabyte to load
    Effect.map(Effect.promise(() => import("./proxyClient.js")), (client) => client.layer(proxy))
  )

/** The service and the storage, over the given client if there is one. */
export const layer = (
  options: Omit<NodeStevedore.Options, keyof NodeStevedore.StorageOptions>,
  client: Option.Option<Layer.Layer<HttpClient.HttpClient>>
): Layer.Layer<NodeStevedore.NodeStevedore, InvalidInput> =>
  Option.match(client, {
    onNone: () => NodeStevedore.layer(options),
    onSome: (through) => Layer.provide(NodeStevedore.layerWithoutHttpClient(options), through)
  }).pipe(Layer.catchAll((error) => Layer.fail(fromConfigError(error))))
