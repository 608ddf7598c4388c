import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { dirname } from "node:path"
import { untilLetGo, untilOpened } from "../file/heldFile.js"

/** Only its owner can read or change it. */
const fileMode = 0o600

const encoder = new TextEncoder()

const nothing = FileSystem.Size(0)

const opened = (fs: FileSystem.FileSystem, path: string, flag: FileSystem.OpenFlag) =>
  untilOpened(fs.open(path, { flag, mode: fileMode }))

const written = (file: FileSystem.File, content: string | Uint8Array): Effect.Effect<void, PlatformError> => {
  const bytes = typeof content === "string" ? encoder.encode(content) : content
  // to write nothing counts as a failed write
  return Effect.zipRight(bytes.byteLength === 0 ? Effect.void : file.writeAll(bytes), file.sync)
}

/** Writes a new file that only its owner can read, and syncs it to disk. If that fails, nothing is left behind. */
export const writeNew = (
  fs: FileSystem.FileSystem,
  path: string,
  content: string | Uint8Array
): Effect.Effect<void, PlatformError> =>
  Effect.tapError(
    Effect.scoped(Effect.flatMap(opened(fs, path, "wx"), (file) => written(file, content))),
    () => Effect.ignore(fs.remove(path, { force: true }))
  )

/**
 * Syncs the names in a directory to disk: a file that was created or renamed there may otherwise be gone after a power
 * failure, although its content was synced. Not every system can.
 */
export const syncNames = (fs: FileSystem.FileSystem, directory: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(opened(fs, directory, "r"), (file) => file.sync)))

/** The same for a directory that was just created, and for those above it, which may have been created with it. */
export const syncNamesUpTo = (fs: FileSystem.FileSystem, directory: string): Effect.Effect<void> =>
  Effect.zipRight(
    syncNames(fs, directory),
    dirname(directory) === directory ? Effect.void : Effect.suspend(() => syncNamesUpTo(fs, dirname(directory)))
  )

/** Appends to a file that only its owner can read, and syncs it to disk; its name too, if it is new. */
export const append = (
  fs: FileSystem.FileSystem,
  path: string,
  content: string
): Effect.Effect<void, PlatformError> =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* opened(fs, path, "a")
    const { size } = yield* file.stat
    yield* written(file, content)
    if (size === nothing) yield* syncNames(fs, dirname(path))
  }))

/**
 * Replaces a file, or creates it, in one step that a power failure does not undo or tear. Only its owner can read it.
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
