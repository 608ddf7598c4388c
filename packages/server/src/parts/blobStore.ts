/**
 * Where the bytes of one write are kept: in memory, or in a file. The object store is built on this port, so both
 * adapters follow the same rules for multipart, etags and ranges.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type * as Checksum from "@stevedore/core/Checksum"
import * as Flushes from "@stevedore/core/parts/flushes"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Disk from "../storage/disk.js"
import type * as StorageRefused from "../StorageRefused.js"
import * as Identifiers from "./identifiers.js"

/**
 * The bytes of one write. `size` is in bytes.
 *
 * @category models
 */
export interface Blob {
  readonly size: number
  /** What a store that outlives the process knows it by. */
  readonly name?: string | undefined
  /** Of the bytes as they came, if the store computes one. */
  readonly checksum?: Checksum.Checksum | undefined
  /** Fails if the bytes are not all there any more. Without it, they always are. */
  readonly check?: Effect.Effect<void, StorageRefused.StorageRefused> | undefined
  /** The `length` bytes from `offset`. Lazy, and can be run repeatedly. */
  readonly read: (offset: number, length: number) => Stream.Stream<Uint8Array, StorageRefused.StorageRefused>
  /** Frees the space. Reading afterwards fails or is empty. */
  readonly remove: Effect.Effect<void>
}

/**
 * What is stored: bytes that come, or few bytes that are there, for which a stream costs more than the write.
 *
 * @category models
 */
export type Body<E = never, R = never> = Uint8Array | Stream.Stream<Uint8Array, E, R>

/**
 * Stores bodies, each as a blob.
 *
 * @category models
 */
export interface BlobStore {
  /**
   * Reads a body to its end and returns the blob. If its stream fails or the write is interrupted, nothing is left
   * behind. The owner of a chunk may reuse it once it has been read.
   */
  readonly write: <E = never, R = never>(body: Body<E, R>) => Effect.Effect<Blob, E | StorageRefused.StorageRefused, R>
}

/**
 * A body as a stream.
 *
 * @category conversions
 */
export const streamOf = <E, R>(body: Body<E, R>): Stream.Stream<Uint8Array, E, R> =>
  body instanceof Uint8Array ? Stream.succeed(body) : body

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
 * @category constructors
 */
export const memory: BlobStore = {
  write: (body) =>
    Stream.runFold(streamOf(body), { chunks: Chunk.empty<Uint8Array>(), size: 0 }, (blob, chunk) => ({
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

const failed = Disk.failed

const READ_BYTES = 1024 * 1024

// Node delivers bodies in chunks of 64 KiB: several of them are one write
const FIRST_BUFFER_BYTES = 64 * 1024
const LARGEST_BUFFER_BYTES = 256 * 1024

/** Space for `needed` bytes, of which the first `filled` are kept: it doubles with what comes. */
const grown = (buffer: Uint8Array, filled: number, needed: number): Uint8Array => {
  if (needed <= buffer.byteLength) return buffer
  let length = Math.max(buffer.byteLength, FIRST_BUFFER_BYTES)
  while (length < needed) length *= 2
  const larger = new Uint8Array(Math.min(length, LARGEST_BUFFER_BYTES))
  larger.set(buffer.subarray(0, filled))
  return larger
}

/**
 * Writes a stream to its end. Where the disk takes no more of it, the rest is read all the same: whoever sends is told why only
 * when he has sent it.
 */
const writeStream = <E, R>(
  file: FileSystem.File,
  body: Stream.Stream<Uint8Array, E, R>,
  wrote: (bytes: number) => Effect.Effect<void>,
  observe: (bytes: Uint8Array) => void
) =>
  Effect.suspend((): Effect.Effect<number, E | StorageRefused.StorageRefused, R> => {
    let buffer: Uint8Array = new Uint8Array(0)
    let filled = 0
    let size = 0
    let failure: StorageRefused.StorageRefused | undefined
    const write = (bytes: Uint8Array) =>
      Effect.matchEffect(file.writeAll(bytes), {
        onFailure: (error) =>
          Effect.sync(() => {
            failure = failed(error)
          }),
        onSuccess: () => wrote(bytes.byteLength)
      })
    const flush = Effect.suspend(() => {
      const pending = buffer.subarray(0, filled)
      filled = 0
      return pending.byteLength === 0 ? Effect.void : write(pending)
    })
    const hold = (chunk: Uint8Array) =>
      Effect.suspend(() => {
        if (chunk.byteLength >= LARGEST_BUFFER_BYTES) return write(chunk)
        buffer = grown(buffer, filled, filled + chunk.byteLength)
        buffer.set(chunk, filled)
        filled += chunk.byteLength
        return Effect.void
      })
    const append = (chunk: Uint8Array): Effect.Effect<void> => {
      size += chunk.byteLength
      observe(chunk)
      if (failure !== undefined) return Effect.void
      return filled + chunk.byteLength <= LARGEST_BUFFER_BYTES ? hold(chunk) : Effect.zipRight(flush, hold(chunk))
    }
    return Stream.runForEach(body, append).pipe(
      Effect.zipRight(flush),
      Effect.flatMap(() => failure === undefined ? Effect.succeed(size) : Effect.fail(failure))
    )
  })

/** A blob by its name. */
export interface NamedBlob extends Pick<Blob, "checksum" | "size"> {
  readonly name: string
}

const blobIn = (
  fs: FileSystem.FileSystem,
  folder: string,
  path: Path.Path,
  { checksum, name, size }: NamedBlob
): Blob => {
  const file = path.join(folder, name)
  return {
    size,
    name,
    checksum,
    check: fs.stat(file).pipe(
      Effect.mapError(Disk.unreadable),
      Effect.filterOrFail(
        (found) => Number(found.size) === size,
        (found) => Disk.unreadable(`${name} has ${found.size} bytes, and had ${size}`)
      ),
      Effect.asVoid
    ),
    read: (offset, length) =>
      Stream.mapError(
        fs.stream(file, { offset, bytesToRead: length, chunkSize: READ_BYTES }),
        Disk.unreadable
      ),
    remove: Effect.ignore(fs.remove(file, { force: true }))
  }
}

/** A file of its own for each write, which nobody else of the machine can read. */
const writeIn = (
  fs: FileSystem.FileSystem,
  folder: string,
  path: Path.Path,
  isKept: boolean,
  writing = new Set<string>(),
  algorithm?: Checksum.ChecksumAlgorithm
): BlobStore => ({
  write: (body) =>
    Effect.flatMap(Identifiers.recordId, (name) => {
      const running = algorithm?.begin()
      return Effect.scoped(Effect.gen(function*() {
        const file = yield* Effect.mapError(fs.open(path.join(folder, name), { flag: "wx", mode: 0o600 }), failed)
        const flush = isKept ? Effect.mapError(file.sync, failed) : Effect.void
        const observe = (bytes: Uint8Array) => running?.update(bytes)
        if (body instanceof Uint8Array) {
          observe(body)
          yield* Effect.mapError(file.writeAll(body), failed)
          yield* Effect.uninterruptible(flush)
          return body.byteLength
        }
        const flushes = yield* Flushes.make(flush)
        return yield* Effect.zipLeft(writeStream(file, body, flushes.wrote, observe), flushes.now)
      })).pipe(
        Effect.map((size) =>
          blobIn(fs, folder, path, {
            name,
            size,
            checksum: algorithm && running && { algorithm: algorithm.name, value: running.value() }
          })
        ),
        Effect.onError(() => Effect.ignore(fs.remove(path.join(folder, name), { force: true }))),
        Effect.ensuring(Effect.sync(() => writing.delete(name))),
        (written) => Effect.suspend(() => (writing.add(name), written))
      )
    })
})

/**
 * Blobs that stay when the process ends: each is on the disk before its write succeeds.
 *
 * @category models
 */
export interface KeptBlobs extends BlobStore {
  /** The blob of this name, which an earlier process has written. */
  readonly open: (blob: NamedBlob) => Blob
  /** The names of all that are there, but for those that are being written. */
  readonly names: Effect.Effect<ReadonlyArray<string>, StorageRefused.StorageRefused>
  /** Removes the blob of this name, and answers whether it did. */
  readonly remove: (name: string) => Effect.Effect<boolean>
}

/**
 * Blobs as files of a folder that is made if it is missing, for its owner alone, and stays. What is there at the start stays
 * too: whoever knows which names are in use removes the others. What is written is hashed by the algorithm while it comes.
 *
 * @category constructors
 */
export const kept = (
  folder: string,
  algorithm: Checksum.ChecksumAlgorithm
): Effect.Effect<KeptBlobs, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const writing = new Set<string>()
    yield* Effect.mapError(Disk.directory(folder), failed)
    return {
      ...writeIn(fs, folder, path, true, writing, algorithm),
      open: (blob) => blobIn(fs, folder, path, blob),
      names: Effect.mapBoth(fs.readDirectory(folder), {
        onFailure: failed,
        onSuccess: (names) => names.filter((name) => !writing.has(name))
      }),
      remove: (name) => Effect.isSuccess(fs.remove(path.join(folder, name)))
    }
  })

/**
 * Blobs as files in a new folder below `directory`, which is removed when the scope closes. A write holds a buffer of what
 * has come, of 256 KiB at most.
 *
 * @category constructors
 */
export const directory = (
  directory: string
): Effect.Effect<BlobStore, StorageRefused.StorageRefused, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 }).pipe(
      Effect.zipRight(fs.makeTempDirectoryScoped({ directory, prefix: "stevedore-sandbox-" })),
      Effect.tap(Disk.ignored),
      Effect.mapError(failed)
    )
    return writeIn(fs, folder, path, false)
  })
