import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Layer from "effect/Layer"
import { fromConfiguration, type InvalidInput } from "../options/invalidInput.js"

/** The service and the storage, through the proxy if there is one. */
export const layer = (options: NodeStevedore.Options): Layer.Layer<NodeStevedore.NodeStevedore, InvalidInput> =>
  Layer.catchAll(NodeStevedore.layer(options), (error) => Layer.fail(fromConfiguration(error)))
