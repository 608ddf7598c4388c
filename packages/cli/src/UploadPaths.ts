/**
 * Which files the paths of a command line mean.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * A file that is to go up.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileToUpload {
  readonly path: string
  /** For a file that was found in a directory its path from there, with slashes; none for one that was named itself. */
  readonly name: Option.Option<string>
  /** In bytes; 0 for what cannot be looked at. */
  readonly size: number
}

type Files = Effect.Effect<ReadonlyArray<FileToUpload>, never, FileSystem.FileSystem | Path.Path>

const itself = (path: string, size = 0): FileToUpload => ({ path, name: Option.none(), size })

// A FIFO or a device has no size of its own, and is refused when it is its turn.
const inDirectory = (directory: string, relative: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join, sep } = yield* Path.Path
    const path = join(directory, relative)
    const name = Option.some(relative.split(sep).join("/"))
    return yield* Effect.match(fs.stat(path), {
      // what cannot be looked at is tried, so that its failure is told
      onFailure: () => Option.some({ path, name, size: 0 }),
      onSuccess: ({ size, type }) =>
        type === "Directory" ? Option.none<FileToUpload>() : Option.some({ path, name, size: Number(size) })
    })
  })

const filesIn = (directory: string): Files =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const names = yield* fs.readDirectory(directory, { recursive: true })
    const found = yield* Effect.forEach([...names].sort(), (name) => inDirectory(directory, name), { concurrency: 16 })
    return found.flatMap(Option.toArray)
  }).pipe(Effect.orElseSucceed(() => [itself(directory)]))

/**
 * The files to upload: each path as it is, and for a directory the files in it and below, in order of their names. A
 * directory that cannot be read stands for itself, so that its upload fails and is told.
 *
 * @since 0.1.0
 * @category constructors
 */
export const expand = (paths: ReadonlyArray<string>): Files =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(
      Effect.forEach(paths, (path) =>
        Effect.matchEffect(fs.stat(path), {
          onFailure: () => Effect.succeed([itself(path)]),
          onSuccess: ({ size, type }) =>
            type === "Directory" ? filesIn(path) : Effect.succeed([itself(path, Number(size))])
        })),
      (found) => found.flat()
    ))
