/**
 * Files on disk as sources of an upload.
 *
 * @since 0.1.0
 */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import type { SourceError } from "@stevedore/core/SourceError"
import { InvalidSource, isSourceError, SourceUnreadable } from "@stevedore/core/SourceError"
import type { OpenSource, RepeatableSource } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import mime from "mime"
import type { FileHandle } from "node:fs/promises"
import { basename } from "node:path"
import { chunksOf } from "./internal/sourceChunks.js"
import type { SourceFile } from "./internal/sourceFile.js"
import * as Files from "./internal/sourceFile.js"

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
    yield* checkDescription(name, mediaType)
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

// Only what follows the last separator counts: by itself the library takes a bare "png" for an extension.
const mediaTypeOf = (name: string): string | null => mime.getType(`/${name}`)

const { mediaTypeLength, nameLength } = ServiceProfile.standard.limits

const checkDescription = (name: string, mediaType: string): Effect.Effect<void, InvalidSource> => {
  if (name.length === 0 || name.length > nameLength) {
    return Effect.fail(new InvalidSource({ name, field: "name", expected: `1 to ${nameLength} characters` }))
  }
  if (mediaType.length === 0 || mediaType.length > mediaTypeLength) {
    return Effect.fail(new InvalidSource({ name, field: "mediaType", expected: `1 to ${mediaTypeLength} characters` }))
  }
  return Effect.void
}

const open = (file: SourceFile): Effect.Effect<OpenSource, SourceError, Scope.Scope> =>
  Files.open(file.path, file.name).pipe(
    Effect.map((handle) => opened(file, handle)),
    Effect.tap((source) => source.unchanged)
  )

const opened = (file: SourceFile, handle: FileHandle): OpenSource => ({
  section: (range) =>
    Effect.succeed({
      range,
      body: (observe) => Effect.succeed({ _tag: "NativeBody", content: chunksOf(file, handle, range, observe) })
    }),
  readThrough: (range, observe) =>
    Effect.tryPromise({
      try: async (signal) => {
        for await (const _ of chunksOf(file, handle, range, observe)) {
          if (signal.aborted) return
        }
      },
      catch: (error) => isSourceError(error) ? error : new SourceUnreadable({ name: file.name, reason: "Failed" })
    }),
  // The handle tells of writes into the file, the path of another file in its place.
  unchanged: Effect.flatMap(
    Effect.all([Files.fingerprintOf(handle, file.name), Files.fingerprintAt(file.path, file.name)]),
    ([byHandle, byPath]) => Effect.zipRight(Files.checkUnchanged(file, byHandle), Files.checkUnchanged(file, byPath))
  )
})
