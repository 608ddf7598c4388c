/** An object store in memory: for tests, under `TestClock`, without a file system. */
import * as Layer from "effect/Layer"
import * as ObjectStore from "../ObjectStore.js"
import * as BlobStore from "./blobStore.js"

/**
 * An empty store in memory.
 *
 * @category layers
 */
export const layer = (options?: ObjectStore.Options): Layer.Layer<ObjectStore.ObjectStore> =>
  Layer.sync(ObjectStore.ObjectStore, () => ObjectStore.make(BlobStore.memory, options))
