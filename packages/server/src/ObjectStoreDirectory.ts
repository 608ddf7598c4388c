/**
 * An object store in a directory, for as long as the layer lives: every write becomes a file of a folder that is removed with
 * it. What stays for good is in `SqlObjectStore`.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ObjectStore from "./ObjectStore.js"
import * as BlobStore from "./parts/blobStore.js"
import type * as StorageRefused from "./StorageRefused.js"

/**
 * Where the store keeps its files, and the options of any store.
 *
 * @category models
 */
export interface Options extends ObjectStore.Options {
  /** Created if it does not exist. */
  readonly directory: string
}

/**
 * Fails with `InternalError` if the directory cannot be created or written to.
 *
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<ObjectStore.ObjectStore, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(
    ObjectStore.ObjectStore,
    Effect.map(BlobStore.directory(options.directory), (blobs) => ObjectStore.make(blobs, options))
  )
