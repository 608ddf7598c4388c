/**
 * Which files the paths of a command line mean.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"

const filesIn = (
  directory: string
): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = yield* fs.readDirectory(directory, { recursive: true })
    const candidates = names.map((name) => path.join(directory, name)).sort()
    return yield* Effect.filter(candidates, (candidate) =>
      fs.stat(candidate).pipe(
        Effect.map(({ type }) => type !== "Directory"),
        // what cannot be looked at is tried, so that its failure is told
        Effect.orElseSucceed(() => true)
      ), { concurrency: 16 })
  }).pipe(Effect.orElseSucceed(() => [directory]))

/**
 * The files to upload: each path as it is, and for a directory the files in it and below, in order of their names. A
 * directory that cannot be read stands for itself, so that its upload fails and is told.
 *
 * @since 0.1.0
 * @category constructors
 */
export const expand = (
  paths: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, never, FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(
      Effect.forEach(paths, (path) =>
        Effect.flatMap(
          Effect.orElseSucceed(Effect.map(fs.stat(path), ({ type }) => type === "Directory"), () => false),
          (isDirectory) => isDirectory ? filesIn(path) : Effect.succeed([path])
        )),
      (found) => found.flat()
    ))
