import type * as HttpClient from "@effect/platform/HttpClient"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { fromConfigError, type InvalidInput } from "../InvalidInput.js"

/** The service and the storage, over the client that leads there where there is one. */
export const layer = (
  options: Omit<NodeStevedore.Options, keyof NodeStevedore.StorageOptions>,
  client: Option.Option<Layer.Layer<HttpClient.HttpClient>>
): Layer.Layer<NodeStevedore.NodeStevedore, InvalidInput> =>
  Option.match(client, {
    onNone: () => NodeStevedore.layer(options),
    onSome: (through) => Layer.provide(NodeStevedore.layerWithoutHttpClient(options), through)
  }).pipe(Layer.catchAll((error) => Layer.fail(fromConfigError(error))))
