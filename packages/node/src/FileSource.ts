/**
 * Files on disk as sources of an upload.
 *
 * @since 0.1.0
 */
import type { SizeExceeded } from "@stevedore/core/PlanError"
import type { SourceError } from "@stevedore/core/SourceError"
import { isSourceError, SourceUnreadable } from "@stevedore/core/SourceError"
import * as SourceLimits from "@stevedore/core/SourceLimits"
import type { OpenSource, RepeatableSource } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import mime from "mime"
import type { FileHandle } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename } from "node:path"
import * as FolderEntries from "./internal/folderEntries.js"
import { ReadBufferPool } from "./internal/readBuffers.js"
import { chunksOf, readSize } from "./internal/sourceChunks.js"
import type { SourceFile } from "./internal/sourceFile.js"
import * as Files from "./internal/sourceFile.js"
import * as SpoolFile from "./internal/spoolFile.js"

/**
 * What the service is told instead of what the path says.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** 1 to 1024 characters. Omitted: the last segment of the path. */
  readonly name?: string | undefined
  /** Such as `video/mp4`, up to 255 characters. Omitted: by the extension, else `application/octet-stream`. */
  readonly mediaType?: string | undefined
}

/**
 * A file as a source that can be read again and again. It is looked at, not read: a directory, a device, a file that
 * is missing or may not be read is `SourceUnreadable`; a name or media type that is too long is `InvalidSource`. An
 * empty file is a source, which the plan of its upload refuses.
 *
 * Its size, its date of change and its identity (device and inode) are its fingerprint. When one of them differs
 * while it is read, what was sent is not completed: `SourceChanged`.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { FileSource } from "@stevedore/node"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(
 *   FileSource.fromPath("recording.bin", { name: "interview.mp4", mediaType: "video/mp4" }),
 *   (source) => Uploads.upload(source)
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromPath = (path: string, options: Options = {}): Effect.Effect<RepeatableSource, SourceError> =>
  Effect.gen(function*() {
    const name = options.name ?? basename(path)
    const mediaType = options.mediaType ?? mediaTypeOf(name) ?? mediaTypeOf(path) ?? "application/octet-stream"
    // Looked at before it is opened: to open a device can have an effect of its own.
    yield* Files.fingerprintAt(path, name)
    yield* SourceLimits.checkDescription(name, mediaType)
    const fingerprint = yield* Effect.scoped(
      Effect.flatMap(Files.open(path, name), (handle) => Files.fingerprintOf(handle, name))
    )
    const file: SourceFile = { path, name, fingerprint }
    return {
      _tag: "RepeatableSource",
      held: false,
      name,
      mediaType,
      size: fingerprint.size,
      fingerprint,
      open: open(file)
    }
  })

/**
 * How a folder is read.
 *
 * @since 0.1.0
 * @category models
 */
export interface DirectoryOptions {
  /** Whether the folders in it are read too, and those in them. Omitted: only the files in the folder itself. */
  readonly recursive?: boolean | undefined
}

/**
 * The files in a folder as sources, in the order of their names; each is called by its path from the folder, with
 * slashes. Links are not followed.
 *
 * What cannot go up (a link, a pipe, a folder that may not be read, a file that has gone meanwhile) stops nothing: it
 * comes as a source that fails with its `SourceUnreadable` when it is opened, before anything is asked of the service,
 * so that `Uploads.uploadAll` tells it among the outcomes. The stream itself fails only when the folder cannot be read.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { FileSource } from "@stevedore/node"
 * import { Effect, Stream } from "effect"
 *
 * const everything = FileSource.fromDirectory("interviews", { recursive: true }).pipe(
 *   Uploads.uploadAll,
 *   Stream.runForEach((outcome) => Effect.log(outcome.source.name, outcome._tag))
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromDirectory = (
  path: string,
  options: DirectoryOptions = {}
): Stream.Stream<RepeatableSource, SourceError> =>
  Stream.mapEffect(
    FolderEntries.entriesOf(path, { recursive: options.recursive ?? false }),
    (entry) =>
      entry._tag === "Refused"
        ? Effect.succeed(refused(entry.name, entry.error))
        : Effect.catchAll(
          fromEntry(entry),
          (error) => Effect.succeed(refused(entry.name, error))
        )
  )

/**
 * What {@link fromDirectory} finds, before it is looked at: for the command line, which looks at a file at its turn.
 *
 * @internal
 */
export const entriesOf = FolderEntries.entriesOf

/**
 * {@link fromPath} of what {@link entriesOf} found: no link that has come there since is followed.
 *
 * @internal
 */
export const fromEntry = (
  entry: { readonly name: string; readonly path: string },
  options: Options = {}
): Effect.Effect<RepeatableSource, SourceError> =>
  Effect.zipRight(
    FolderEntries.checkLinks(entry),
    fromPath(entry.path, { ...options, name: options.name ?? entry.name })
  )

// A plan needs a size before it looks at anything else; this one is never sent.
const refused = (name: string, error: SourceError): RepeatableSource => ({
  _tag: "RepeatableSource",
  held: false,
  name,
  mediaType: "application/octet-stream",
  size: 1,
  fingerprint: { kind: "refused", size: 1 },
  open: Effect.fail(error)
})

/**
 * How a stream is put on disk.
 *
 * @since 0.1.0
 * @category models
 */
export interface SpoolOptions {
  /** As of {@link Options}. Omitted: by the name's extension. */
  readonly mediaType?: string | undefined
  /** Where the file is made; the directory must be there. Omitted: the system's directory for temporary files. */
  readonly directory?: string | undefined
  /** The most bytes, over which it is `SizeExceeded`. Omitted: as many as an upload may have, 10 GB. */
  readonly atMost?: number | undefined
}

/**
 * A stream that can be run only once, or whose size nobody knows, as a source that can be read again and again: it is
 * written to a temporary file first. The file can be read by its owner alone and goes with the scope; spooling that
 * fails or is interrupted leaves nothing.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { FileSource } from "@stevedore/node"
 * import { Effect, Stream } from "effect"
 *
 * const fromInput = Effect.scoped(Effect.gen(function*() {
 *   const input = Stream.fromAsyncIterable<Uint8Array, unknown>(process.stdin, (cause) => cause)
 *   const source = yield* FileSource.spooled("interview.mp4", input, { atMost: 2_000_000_000 })
 *   return yield* Uploads.upload(source)
 * }))
 *
 * @since 0.1.0
 * @category constructors
 */
export const spooled = <E>(
  name: string,
  stream: Stream.Stream<Uint8Array, E>,
  options: SpoolOptions = {}
): Effect.Effect<RepeatableSource, SourceError | SizeExceeded, Scope.Scope> =>
  Effect.gen(function*() {
    const mediaType = options.mediaType ?? mediaTypeOf(name) ?? "application/octet-stream"
    yield* SourceLimits.checkDescription(name, mediaType)
    const { atMost = SourceLimits.size, directory = tmpdir() } = options
    const path = yield* SpoolFile.write({ name, directory, atMost }, stream)
    return yield* fromPath(path, { name, mediaType })
  })

// Only what follows the last separator counts: by itself the library takes a bare "png" for an extension.
const mediaTypeOf = (name: string): string | null => mime.getType(`/${name}`)

const open = (file: SourceFile): Effect.Effect<OpenSource, SourceError, Scope.Scope> =>
  Files.open(file.path, file.name).pipe(
    Effect.map((handle) => opened(file, handle)),
    Effect.tap((source) => source.unchanged)
  )

const opened = (file: SourceFile, handle: FileHandle): OpenSource => {
  const buffers = new ReadBufferPool(Math.min(readSize, file.fingerprint.size))
  return {
    section: (range) =>
      Effect.succeed({
        range,
        body: (observe) =>
          Effect.map(buffers.take, (pair) => ({
            _tag: "NativeBody",
            content: chunksOf(file, handle, range, observe, pair)
          }))
      }),
    readThrough: (range, observe) =>
      Effect.scoped(Effect.flatMap(buffers.take, (pair) =>
        Effect.tryPromise({
          try: async (signal) => {
            for await (const _ of chunksOf(file, handle, range, observe, pair)) {
              if (signal.aborted) return
            }
          },
          catch: (error) => isSourceError(error) ? error : new SourceUnreadable({ name: file.name, reason: "Failed" })
        }))),
    // The handle tells of writes into the file, the path of another file in its place.
    unchanged: Effect.flatMap(
      Effect.zip(Files.fingerprintOf(handle, file.name), Files.fingerprintAt(file.path, file.name)),
      ([byHandle, byPath]) => Effect.zipRight(Files.checkUnchanged(file, byHandle), Files.checkUnchanged(file, byPath))
    )
  }
}
