/** Files on disk as upload sources. */
import type { SourceError } from "@stevedore/core/SourceError"
import { InvalidSource, isSourceError, SourceUnreadable } from "@stevedore/core/SourceError"
import type { SizeExceeded } from "@stevedore/core/UploadError"
import { checkDescription, largestSize } from "@stevedore/core/UploadSource"
import type { OpenSource, RepeatableSource } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import mime from "mime"
import type { FileHandle } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename } from "node:path"
import * as FolderEntries from "./file/folderEntries.js"
import type { ReadBuffers } from "./file/readBuffers.js"
import { readBuffer, ReadBufferPool } from "./file/readBuffers.js"
import { FileRange, readSize } from "./file/sourceChunks.js"
import * as Files from "./file/sourceFile.js"
import type { SourceFile, SourcePlace } from "./file/sourceFile.js"
import * as SpoolFile from "./file/spoolFile.js"
import { WritePace } from "./file/writePace.js"
import type { SpoolUnwritable } from "./SpoolError.js"

/**
 * What the service is told about the file, instead of what the path says.
 *
 * @category models
 */
export interface Options {
  /** 1 to 1024 characters. Defaults to the last segment of the path. */
  readonly name?: string | undefined
  /**
   * Such as `video/mp4`, up to 255 characters. Defaults to the type of the extension, or else to
   * `application/octet-stream`.
   */
  readonly mediaType?: string | undefined
  /**
   * What identifies the file on every machine, such as its key in your database, instead of its device and inode. Give it
   * if the file is on a file system whose device or inode numbers differ from one machine, mount or start to the next (a
   * network or cluster file system, a container's volume): an unfinished upload is then found again by this identity,
   * and resumes if the size and the modification date are the same too. Two files with the same name and identity count
   * as one. Not empty.
   */
  readonly identity?: string | undefined
}

/**
 * A file as a source that can be read repeatedly. This inspects the file without reading it. A directory, a device, or
 * a file that is missing or not readable fails with `SourceUnreadable`; a name or media type that is too long fails
 * with `InvalidSource`. An empty file is a valid source, but the plan of its upload refuses it.
 *
 * The file's fingerprint is its size, its modification date and its identity (device and inode, or the one that you
 * give). If one of them changes while the file is read, the upload fails with `SourceChanged` and nothing is completed.
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
 * @category constructors
 */
export const fromPath = (
  path: string,
  options: Options = {}
): Effect.Effect<RepeatableSource, SourceUnreadable | InvalidSource> => fromPlace({ path }, options)

const fromPlace = (
  { path, within }: Pick<SourcePlace, "path" | "within">,
  { identity, mediaType: givenType, name = basename(path) }: Options
): Effect.Effect<RepeatableSource, SourceUnreadable | InvalidSource> =>
  Effect.gen(function*() {
    const mediaType = givenType ?? mediaTypeOf(name) ?? mediaTypeOf(path) ?? "application/octet-stream"
    const place: SourcePlace = { path, within, name, identity }
    const fingerprint = yield* Effect.mapError(Files.inspect(place), orMisnamed(path))
    yield* checkDescription(name, mediaType)
    if (identity === "") {
      yield* new InvalidSource({ fileName: name, field: "fingerprint", expected: "an identity that is not empty" })
    }
    return {
      _tag: "RepeatableSource",
      held: false,
      name,
      mediaType,
      size: fingerprint.size,
      fingerprint,
      open: open({ ...place, fingerprint })
    }
  })

/**
 * How a folder is read.
 *
 * @category models
 */
export interface DirectoryOptions {
  /** Whether to read subfolders, at any depth. Defaults to only the files in the folder itself. */
  readonly recursive?: boolean | undefined
}

/**
 * The files in a folder as sources, ordered by name. Each is named by its path relative to the folder, with slashes.
 * Links are not followed, whenever they appear: what was opened is checked to be in the folder before any of it is read.
 *
 * An entry that cannot be uploaded (a link, a pipe, a folder without read permission, a file that has disappeared)
 * stops nothing. It becomes a source that fails with `SourceUnreadable` when it is opened, before any request to the
 * service, so that `Uploads.uploadAll` reports it as an outcome. The stream itself fails only if the folder cannot be
 * read.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { FileSource } from "@stevedore/node"
 * import { Effect, Stream } from "effect"
 *
 * const everything = FileSource.fromDirectory("interviews", { recursive: true }).pipe(
 *   Uploads.uploadAll(),
 *   Stream.runForEach((outcome) => Effect.log(outcome.source.name, outcome._tag))
 * )
 *
 * @category constructors
 */
export const fromDirectory = (
  path: string,
  options: DirectoryOptions = {}
): Stream.Stream<RepeatableSource, SourceUnreadable> =>
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
 * What {@link fromDirectory} finds, before the files are inspected: the command line inspects each file in its turn.
 *
 * @internal
 */
export const entriesOf = FolderEntries.entriesOf

/**
 * {@link fromPath} for what {@link entriesOf} found. A link that has appeared there since is not followed.
 *
 * @internal
 */
export const fromEntry = (
  entry: { readonly name: string; readonly path: string; readonly within?: string | undefined },
  options: Options = {}
): Effect.Effect<RepeatableSource, SourceUnreadable | InvalidSource> =>
  Effect.zipRight(
    Effect.mapError(FolderEntries.checkLinks(entry), orMisnamed(entry.path)),
    fromPlace(entry, { ...options, name: options.name ?? entry.name })
  )

// Node reads a name that is not valid UTF-8 with this character in it, and then finds no file that is named so.
const orMisnamed = (path: string) => (error: SourceUnreadable): SourceUnreadable | InvalidSource =>
  error.reason === "NotFound" && path.includes("\ufffd")
    ? new InvalidSource({ fileName: error.fileName, field: "name", expected: "valid UTF-8: rename the file" })
    : error

// A plan needs a size before it inspects anything else; this one is never sent.
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
 * How a stream is written to disk.
 *
 * @category models
 */
export interface SpoolOptions {
  /** As in {@link Options}. Defaults to the type of the name's extension. */
  readonly mediaType?: string | undefined
  /** The directory for the file; it must exist. Defaults to the system's directory for temporary files. */
  readonly directory?: string | undefined
  /** The most bytes to accept; more fails with `SizeExceeded`. Defaults to the largest upload, 10 GB. */
  readonly atMost?: number | undefined
}

/**
 * A stream that can run only once, or whose size is unknown, as a source that can be read repeatedly: it is first
 * written to a temporary file. Only the owner can read that file, and it is removed with the scope. If spooling fails
 * (with `SpoolUnwritable` on a full disk) or is interrupted, nothing is left behind. The file of a killed process is
 * removed a week later, by the next stream that is written to the same directory.
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
 * @category constructors
 */
export const spooled = <E>(
  name: string,
  stream: Stream.Stream<Uint8Array, E>,
  options: SpoolOptions = {}
): Effect.Effect<RepeatableSource, SourceUnreadable | InvalidSource | SizeExceeded | SpoolUnwritable, Scope.Scope> =>
  Effect.gen(function*() {
    const mediaType = options.mediaType ?? mediaTypeOf(name) ?? "application/octet-stream"
    yield* checkDescription(name, mediaType)
    const { atMost = largestSize, directory = tmpdir() } = options
    const path = yield* SpoolFile.write({ name, directory, atMost }, stream)
    return yield* fromPath(path, { name, mediaType })
  })

// Only what follows the last separator counts: the library would take a bare "png" for an extension.
const mediaTypeOf = (name: string): string | null => mime.getType(`/${name}`)

const open = (file: SourceFile): Effect.Effect<OpenSource, SourceError, Scope.Scope> =>
  Effect.map(Files.open(file), (handle) => opened(file, handle))

const opened = (file: SourceFile, handle: FileHandle): OpenSource => {
  const { size } = file.fingerprint
  // What is sent in one piece is read once, into one buffer
  const buffers = size > WritePace.least
    ? new ReadBufferPool(Math.min(readSize, size)).take
    : Effect.sync((): ReadBuffers => {
      const buffer = readBuffer(size)
      return [buffer, buffer]
    })
  return {
    section: (range) =>
      Effect.succeed({
        range,
        body: (observe) =>
          Effect.map(buffers, (pair) => ({
            _tag: "NativeBody",
            content: new FileRange(file, handle, range, observe, pair)
          }))
      }),
    readThrough: (range, observe) =>
      Effect.scoped(Effect.flatMap(buffers, (pair) =>
        Effect.tryPromise({
          try: async (signal) => {
            for await (const _ of new FileRange(file, handle, range, observe, pair)) {
              if (signal.aborted) return
            }
          },
          catch: (error) =>
            isSourceError(error) ? error : new SourceUnreadable({ fileName: file.name, reason: "Failed" })
        }))),
    unchanged: Files.unchanged(file, handle)
  }
}

export {
  /**
   * @internal
   */
  type FileState,
  /**
   * What the file system knows of a file besides its size: if all of it is as it was, so is the file.
   *
   * @internal
   */
  stateAt
} from "./file/sourceFile.js"
