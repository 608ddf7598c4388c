/**
 * An object store in a directory: for as long as the layer lives, or for good.
 *
 * Every write becomes a file. Of {@link layer}, the folder is removed with the layer, and everything stored with it; what
 * {@link layerDurable} stores is there when the next process begins.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BlobStore from "./BlobStore.js"
import * as DirectoryJournal from "./internal/directoryJournal.js"
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

/**
 * A store that outlives its process, however it ends: bytes and their record are on the disk before a write succeeds, and a
 * record is whole or not there at all. One process at a time may use a directory. What it knows of each object is in memory.
 * Fails with `InternalError` if the directory cannot be read or written.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerDurable = (
  options: Options
): Layer.Layer<ObjectStore.ObjectStore, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    ObjectStore.ObjectStore,
    Effect.gen(function*() {
      const { join } = yield* Path.Path
      const blobs = yield* BlobStore.kept(join(options.directory, "blobs"))
      return ObjectStore.make(blobs, options, yield* DirectoryJournal.make(options.directory, blobs))
    })
  )
