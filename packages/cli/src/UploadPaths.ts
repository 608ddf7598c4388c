/**
 * Which files the paths of a command line refer to.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { SourceError } from "@stevedore/core/SourceError"
import * as FileSource from "@stevedore/node/FileSource"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { InvalidInput } from "./InvalidInput.js"

/**
 * A file to upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileToUpload {
  readonly path: string
  /**
   * For a file found in a directory, its path relative to that directory, with slashes; none for a file that was named
   * itself.
   */
  readonly name: Option.Option<string>
  /** In bytes; 0 if it cannot be determined. */
  readonly size: number
  /** Why it cannot be uploaded, if this was noticed while its directory was read. */
  readonly refused: Option.Option<SourceError>
}

type Files = Effect.Effect<ReadonlyArray<FileToUpload>, never, FileSystem.FileSystem | Path.Path>

const itself = (path: string, size = 0): FileToUpload => ({
  path,
  name: Option.none(),
  size,
  refused: Option.none()
})

const refused = (file: FileToUpload, error: SourceError): FileToUpload => ({ ...file, refused: Option.some(error) })

const sizeOf = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.match(fs.stat(path), {
      // a file whose size cannot be read is tried anyway, so that its failure is reported
      onFailure: () => 0,
      onSuccess: ({ size }) => Number(size)
    }))

const filesIn = (directory: string): Files =>
  Effect.gen(function*() {
    const { join } = yield* Path.Path
    const entries = yield* Stream.runCollect(FileSource.entriesOf(directory, { recursive: true }))
    return yield* Effect.forEach(entries, (entry) => {
      const file = { ...itself(join(directory, entry.name)), name: Option.some(entry.name) }
      return entry._tag === "Refused"
        ? Effect.succeed(refused(file, entry.error))
        : Effect.map(sizeOf(file.path), (size) => ({ ...file, size }))
    }, { concurrency: 16 })
  }).pipe(Effect.catchAll((error) => Effect.succeed([refused(itself(directory), error)])))

const named = (path: string): Files =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.matchEffect(fs.stat(path), {
      onFailure: () => Effect.succeed([itself(path)]),
      onSuccess: ({ size, type }) => type === "Directory" ? filesIn(path) : Effect.succeed([itself(path, Number(size))])
    }))

// By the real path of what was named: below a directory, links are not followed.
const withRealPaths = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join, resolve } = yield* Path.Path
    const real = yield* Effect.orElseSucceed(fs.realPath(path), () => resolve(path))
    return (yield* named(path)).map((file) => ({
      file,
      real: Option.match(file.name, { onNone: () => real, onSome: (name) => join(real, name) })
    }))
  })

// If the working directory was removed, a relative path has no meaning, and resolving it throws.
const checkDirectory = (paths: ReadonlyArray<string>): Effect.Effect<void, InvalidInput, Path.Path> =>
  Effect.flatMap(
    Path.Path,
    ({ isAbsolute, resolve }) =>
      Option.match(Arr.findFirst(paths, (path) => !isAbsolute(path)), {
        onNone: () => Effect.void,
        onSome: (path) =>
          Effect.try({
            try: () => resolve(path),
            catch: () =>
              new InvalidInput({ input: path, problem: "the current directory no longer exists: change to another" })
          })
      })
  )

/**
 * What the paths of a command line refer to.
 *
 * @since 0.1.0
 * @category models
 */
export interface Expanded {
  readonly files: ReadonlyArray<FileToUpload>
  /** What was named more than once, in whatever way, under each of the further names: it is uploaded only once. */
  readonly repeated: ReadonlyArray<FileToUpload>
}

/**
 * The files to upload: each named file, and for a directory the files in it and below, ordered by name. Links in a
 * directory are not followed. What cannot be uploaded (a link, a pipe, an unreadable directory) is included, so that it
 * is reported as its own failure. Each file is listed once, as first named.
 *
 * @since 0.1.0
 * @category constructors
 */
export const expand = (
  paths: ReadonlyArray<string>
): Effect.Effect<Expanded, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.map(Effect.zipRight(checkDirectory(paths), Effect.forEach(paths, withRealPaths)), (found) => {
    const all = found.flat()
    const first = new Map(all.toReversed().map(({ file, real }) => [real, file]))
    const [repeated, files] = Arr.partition(all, ({ file, real }) => first.get(real) === file)
    return { files: files.map(({ file }) => file), repeated: repeated.map(({ file }) => file) }
  })
