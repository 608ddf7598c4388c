/**
 * The object store in a directory: its memory does not grow with what it stores.
 *
 * Every write becomes a file in a folder of its own below the directory. What is stored lives as long as the layer: the
 * folder goes away with it.
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
 * Where the store keeps its files, and what can be chosen of any store.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends ObjectStore.Options {
  /** Made when it is not there. */
  readonly directory: string
}

/**
 * Fails with `InternalError` when the directory cannot be made or written to.
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
