/**
 * An object store in a directory: its memory use does not grow with what it stores.
 *
 * Every write becomes a file in a new folder below the directory. That folder is removed with the layer, and everything
 * stored with it.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BlobStore from "./BlobStore.js"
import * as ObjectStore from "./ObjectStore.js"
import type * as StorageRefused from "./StorageRefused.js"

/**
 * Where the store keeps its files, and the options of any store.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends ObjectStore.Options {
  /** Created if it does not exist. */
  readonly directory: string
}

/**
 * Fails with `InternalError` if the directory cannot be created or written to.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<ObjectStore.ObjectStore, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(
    ObjectStore.ObjectStore,
    Effect.map(BlobStore.directory(options.directory), (blobs) => ObjectStore.make(blobs, options))
  )
