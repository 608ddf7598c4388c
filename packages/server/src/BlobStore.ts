/**
 * Where the bytes of one write are kept: in memory, or in a file. The object store is built on this port, so both
 * adapters follow the same rules for multipart, etags and ranges.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Identifiers from "./Identifiers.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * The bytes of one write. `size` is in bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Blob {
  readonly size: number
  /** What a store that outlives the process knows it by. */
  readonly name?: string | undefined
  /** The `length` bytes from `offset`. Lazy, and can be run repeatedly. */
  readonly read: (offset: number, length: number) => Stream.Stream<Uint8Array, StorageRefused.StorageRefused>
  /** Frees the space. Reading afterwards fails or is empty. */
  readonly remove: Effect.Effect<void>
}

/**
 * Stores streams of bytes, each as a blob.
 *
 * @since 0.1.0
 * @category models
 */
export interface BlobStore {
  /**
   * Reads a stream to its end and returns the blob. If the stream fails or the write is interrupted, nothing is left
   * behind. The owner of a chunk may reuse it once it has been read.
   */
  readonly write: <E, R>(
    body: Stream.Stream<Uint8Array, E, R>
  ) => Effect.Effect<Blob, E | StorageRefused.StorageRefused, R>
}

const slice = (chunks: ReadonlyArray<Uint8Array>, offset: number, length: number): ReadonlyArray<Uint8Array> => {
  const wanted: Array<Uint8Array> = []
  let position = 0
  for (const chunk of chunks) {
    const from = Math.max(offset - position, 0)
    const to = Math.min(offset + length - position, chunk.byteLength)
    if (from < to) {
      wanted.push(chunk.subarray(from, to))
    }
    position += chunk.byteLength
  }
  return wanted
}

/**
 * Blobs in memory, for tests.
 *
 * @since 0.1.0
 * @category constructors
 */
export const memory: BlobStore = {
  write: (body) =>
    Stream.runFold(body, { chunks: Chunk.empty<Uint8Array>(), size: 0 }, (blob, chunk) => ({
      // always a copy: slice() of a Node Buffer would be a view of memory that its owner reuses
      chunks: Chunk.append(blob.chunks, new Uint8Array(chunk)),
      size: blob.size + chunk.byteLength
    })).pipe(Effect.map(({ chunks, size }) => {
      let content = Chunk.toReadonlyArray(chunks)
      return {
        size,
        read: (offset: number, length: number) =>
          Stream.suspend(() => Stream.fromIterable(slice(content, offset, length))),
        remove: Effect.sync(() => {
          content = []
        })
      }
    }))
}

const failed = () => StorageRefused.make("InternalError")

// Node delivers bodies in chunks of 64 KiB; one write per MiB costs a sixteenth of the system calls
const BUFFER_BYTES = 1024 * 1024

const writeAll = <E, R>(file: FileSystem.File, body: Stream.Stream<Uint8Array, E, R>) =>
  Effect.suspend(() => {
    const buffer = new Uint8Array(BUFFER_BYTES)
    let filled = 0
    let size = 0
    const flush = Effect.suspend(() => {
      if (filled === 0) {
        return Effect.void
      }
      const pending = buffer.subarray(0, filled)
      filled = 0
      return Effect.mapError(file.writeAll(pending), failed)
    })
    const append = (chunk: Uint8Array): Effect.Effect<void, StorageRefused.StorageRefused> => {
      size += chunk.byteLength
      if (filled + chunk.byteLength <= BUFFER_BYTES) {
        buffer.set(chunk, filled)
        filled += chunk.byteLength
        return Effect.void
      }
      const whole = Effect.suspend(() => {
        if (chunk.byteLength >= BUFFER_BYTES) {
          return Effect.mapError(file.writeAll(chunk), failed)
        }
        buffer.set(chunk, 0)
        filled = chunk.byteLength
        return Effect.void
      })
      return Effect.zipRight(flush, whole)
    }
    return Stream.runForEach(body, append).pipe(
      Effect.zipRight(flush),
      Effect.map(() => size)
    )
  })

const blobIn = (fs: FileSystem.FileSystem, folder: string, path: Path.Path, name: string, size: number): Blob => {
  const file = path.join(folder, name)
  return {
    size,
    name,
    read: (offset, length) =>
      Stream.mapError(fs.stream(file, { offset, bytesToRead: length, chunkSize: BUFFER_BYTES }), failed),
    remove: Effect.ignore(fs.remove(file, { force: true }))
  }
}

const writeIn = (fs: FileSystem.FileSystem, folder: string, path: Path.Path, isKept: boolean): BlobStore => ({
  write: (body) =>
    Effect.gen(function*() {
      const name = yield* Identifiers.recordId
      return yield* Effect.scoped(
        fs.open(path.join(folder, name), { flag: "wx" }).pipe(
          Effect.mapError(failed),
          Effect.flatMap((file) =>
            Effect.zipLeft(writeAll(file, body), isKept ? Effect.mapError(file.sync, failed) : Effect.void)
          )
        )
      ).pipe(
        Effect.map((size) => blobIn(fs, folder, path, name, size)),
        Effect.onError(() => Effect.ignore(fs.remove(path.join(folder, name), { force: true })))
      )
    })
})

/**
 * Blobs that stay when the process ends: each is on the disk before its write succeeds.
 *
 * @since 0.1.0
 * @category models
 */
export interface KeptBlobs extends BlobStore {
  /** The blob of this name, which an earlier process has written. */
  readonly open: (name: string, size: number) => Blob
  /** Removes every blob that is not among the names. */
  readonly retain: (names: ReadonlySet<string>) => Effect.Effect<void, StorageRefused.StorageRefused>
}

/**
 * Blobs as files of a folder that is made if it is missing, and stays.
 *
 * @since 0.1.0
 * @category constructors
 */
export const kept = (
  folder: string
): Effect.Effect<KeptBlobs, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* Effect.mapError(fs.makeDirectory(folder, { recursive: true }), failed)
    return {
      ...writeIn(fs, folder, path, true),
      open: (name, size) => blobIn(fs, folder, path, name, size),
      retain: (names) =>
        fs.readDirectory(folder).pipe(
          Effect.flatMap((found) =>
            Effect.forEach(found.filter((name) => !names.has(name)), (name) => fs.remove(path.join(folder, name)), {
              discard: true
            })
          ),
          Effect.mapError(failed)
        )
    }
  })

/**
 * Blobs as files in a new folder below `directory`, which is removed when the scope closes. A write holds one buffer of
 * 1 MiB, whatever its size.
 *
 * @since 0.1.0
 * @category constructors
 */
export const directory = (
  directory: string
): Effect.Effect<BlobStore, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeDirectory(directory, { recursive: true }).pipe(
      Effect.zipRight(fs.makeTempDirectoryScoped({ directory, prefix: "stevedore-sandbox-" })),
      Effect.mapError(failed)
    )
    return writeIn(fs, folder, path, false)
  })
