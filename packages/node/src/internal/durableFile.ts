import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { dirname } from "node:path"
import { untilLetGo } from "./heldFile.js"

/** Only its owner can read or change it. */
const fileMode = 0o600

const encoder = new TextEncoder()

const written = (
  fs: FileSystem.FileSystem,
  path: string,
  flag: FileSystem.OpenFlag,
  content: string | Uint8Array
): Effect.Effect<void, PlatformError> =>
  Effect.scoped(
    Effect.flatMap(fs.open(path, { flag, mode: fileMode }), (file) =>
      Effect.zipRight(
        file.writeAll(typeof content === "string" ? encoder.encode(content) : content),
        file.sync
      ))
  )

/**
 * Writes a new file that only its owner can read, and syncs it to disk. If that fails, nothing is left behind.
 *
 * @internal
 */
export const writeNew = (
  fs: FileSystem.FileSystem,
  path: string,
  content: string | Uint8Array
): Effect.Effect<void, PlatformError> =>
  Effect.tapError(written(fs, path, "wx", content), () => Effect.ignore(fs.remove(path, { force: true })))

/**
 * Appends to a file that only its owner can read, and syncs it to disk.
 *
 * @internal
 */
export const append = (
  fs: FileSystem.FileSystem,
  path: string,
  content: string
): Effect.Effect<void, PlatformError> => written(fs, path, "a", content)

/**
 * Syncs the names in a directory to disk: a file that was created or renamed there may otherwise be gone after a power
 * failure, although its content was synced. Not every system can.
 *
 * @internal
 */
export const syncNames = (fs: FileSystem.FileSystem, directory: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(directory, { flag: "r" }), (opened) => opened.sync)))

/**
 * Replaces a file, or creates it, in one step that a power failure does not undo or tear. Only its owner can read it.
 *
 * @internal
 */
export const replace = (
  fs: FileSystem.FileSystem,
  path: string,
  content: string
): Effect.Effect<void, PlatformError> =>
  Effect.gen(function*() {
    const aside = `${path}.new`
    // left by a killed run; and a link that somebody else put there must not be written through
    yield* fs.remove(aside, { force: true })
    yield* writeNew(fs, aside, content)
    yield* Effect.tapError(
      untilLetGo(fs.rename(aside, path)),
      () => Effect.ignore(fs.remove(aside, { force: true }))
    )
    yield* syncNames(fs, dirname(path))
  }).pipe(Effect.uninterruptible)
