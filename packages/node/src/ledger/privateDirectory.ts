import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import { monotonicMillis } from "@stevedore/core/parts/timers"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { untilLetGo, untilOpened } from "../file/heldFile.js"
import { isMissing, systemError } from "../file/platformError.js"
import * as DurableFile from "./durableFile.js"
import * as GroupedAppends from "./groupedAppends.js"

/** A directory that only its owner can enter. */
export interface PrivateDirectory {
  /** Fails if the directory exists and is not private. A directory that does not exist is private. */
  readonly checked: Effect.Effect<void, PlatformError>
  /** Creates a subdirectory, by its relative path with slashes. Call it after something was written aside. */
  readonly makeDirectory: (path: string) => Effect.Effect<void, PlatformError>
  /** The path of something in the directory. */
  readonly pathOf: (path: string) => string
  /** Writes a file aside and returns its path, to be linked into place. A power failure may lose it. */
  readonly writeAside: (content: string) => Effect.Effect<string, PlatformError>
  /** The same for a file to be moved into place, whose content is on the disk: then {@link syncNames} keeps its name. */
  readonly writeSynced: (content: string | Uint8Array) => Effect.Effect<string, PlatformError>
  /** Syncs the names in a subdirectory, or in the directory itself (`""`), to disk. */
  readonly syncNames: (path: string) => Effect.Effect<void>
  /** Appends to a file in an existing directory. Once that has ended, the content is on the disk. */
  readonly append: (path: string, content: string) => Effect.Effect<void, PlatformError>
  /** Moves something aside in one step, whatever it contains, and returns its new path, to be removed. */
  readonly moveAside: (path: string) => Effect.Effect<string, PlatformError>
  /** The names, of those asked for, of what was last changed before a time in milliseconds; none if they cannot be read. */
  readonly untouchedSince: (
    path: string,
    time: number,
    isAsked: (name: string) => boolean
  ) => Effect.Effect<ReadonlyArray<string>>
}

const directoryMode = 0o700
const fileMode = 0o600

/** Writes a file under a unique name, and leaves nothing behind if that fails. */
export const writeNew = (
  fs: FileSystem.FileSystem,
  path: string,
  content: string,
  mode?: number
): Effect.Effect<void, PlatformError> => {
  const options = { flag: "wx", ...(mode === undefined ? {} : { mode }) } as const
  return Effect.tapError(
    untilOpened(fs.writeFileString(path, content, options)),
    () => Effect.ignore(fs.remove(path, { force: true }))
  )
}

const aside = "temporary"

/** What the directory has, counted from 0.1.0 on. Greater is newer, and nothing is known of it. */
const FORMAT = 1

// each command of the command line asks: a promise is the fewest steps
export const isNewer = (directory: string): Promise<boolean> =>
  readFile(join(directory, ".format"), "utf8").then((format) => Number(format) > FORMAT, () => false)

// How old the remains of a killed process must be to be removed. No process takes this long to write one small file.
const longestWrite = Duration.toMillis("1 hour")

// How long a check for privacy stays valid, in milliseconds.
const trusted = Duration.toMillis("1 second")

export const problemOf = (
  info: Pick<FileSystem.File.Info, "mode" | "type" | "uid">,
  user: number | undefined
): string | undefined => {
  if (info.type !== "Directory") return "it is not a directory"
  // Windows has no modes: access lists protect a user's folders from others.
  if (user === undefined) return undefined
  if (Option.exists(info.uid, (uid) => uid !== user)) return "it belongs to another user: choose another directory"
  return (info.mode & 0o077) === 0 ? undefined : "other users can access it: protect it with chmod 700"
}

export const make = (fs: FileSystem.FileSystem, directory: string): Effect.Effect<PrivateDirectory> =>
  Effect.gen(function*() {
    const user = process.platform === "win32" ? undefined : process.geteuid?.()

    const newer = (yield* Effect.promise(() => isNewer(directory)))
      ? "it was written by a newer version: use that one"
      : undefined
    const inspected = Effect.flatMap(fs.stat(directory), (info) => {
      const problem = problemOf(info, user) ?? newer
      return problem === undefined
        ? Effect.void
        : Effect.fail(systemError("PermissionDenied", { method: "stat", path: directory, description: problem }))
    })
    const checked = Effect.catchIf(inspected, isMissing, () => Effect.void)
    // before writing, a recent check is enough: only the owner could have opened the directory to others since; before
    // reading, it is always checked, because what is read may have been planted
    let checkedAt = Number.NEGATIVE_INFINITY
    const checkedLately = Effect.flatMap(Effect.clock, (clock) => {
      const now = monotonicMillis(clock)
      return now - checkedAt < trusted ? Effect.void : Effect.map(checked, () => {
        checkedAt = now
      })
    })

    const makeDirectory = (path: string) =>
      fs.makeDirectory(join(directory, path), { recursive: true, mode: directoryMode })

    const begin = checked.pipe(
      Effect.zipRight(makeDirectory(aside)),
      Effect.zipRight(inspected),
      // of a repository around it, nothing here is part: it holds pre-signed URLs
      Effect.zipRight(
        Effect.ignore(fs.writeFileString(join(directory, ".gitignore"), "*\n", { flag: "wx", mode: fileMode }))
      ),
      Effect.zipRight(
        Effect.ignore(fs.writeFileString(join(directory, ".format"), `${FORMAT}\n`, { flag: "wx", mode: fileMode }))
      ),
      Effect.zipRight(Effect.suspend(() => DurableFile.syncNamesUpTo(fs, directory)))
    )

    const untouchedIn = (path: string, time: number, isAsked: (name: string) => boolean) => {
      const isUntouched = (name: string) =>
        fs.stat(join(directory, path, name)).pipe(
          Effect.map(({ mtime }) => Option.exists(mtime, (date) => date.getTime() < time)),
          Effect.orElseSucceed(() => false)
        )
      return Effect.flatMap(
        Effect.orElseSucceed(fs.readDirectory(join(directory, path)), () => []),
        (names) => Effect.filter(names.filter(isAsked), isUntouched, { concurrency: 16 })
      )
    }

    const sweep = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      for (const name of yield* untouchedIn(aside, now - longestWrite, constTrue)) {
        yield* Effect.ignore(fs.remove(join(directory, aside, name), { recursive: true, force: true }))
      }
    })

    let isSwept = false
    const swept = Effect.suspend(() => {
      if (isSwept) return Effect.void
      isSwept = true
      return sweep
    })
    const freshPath = Effect.sync(() => join(directory, aside, randomUUID()))

    const writeBy = (write: (path: string) => Effect.Effect<void, PlatformError>) =>
      checkedLately.pipe(
        Effect.zipRight(swept),
        Effect.zipRight(freshPath),
        Effect.tap((path) => Effect.catchIf(write(path), isMissing, () => Effect.zipRight(begin, write(path))))
      )

    const appended = GroupedAppends.make((path, content) => DurableFile.append(fs, path, content))

    return {
      checked,
      makeDirectory,
      pathOf: (path) => join(directory, path),
      writeAside: (content) => writeBy((path) => writeNew(fs, path, content, fileMode)),
      writeSynced: (content) => writeBy((path) => DurableFile.writeNew(fs, path, content)),
      syncNames: (path) => DurableFile.syncNames(fs, join(directory, path)),
      append: (path, content) => Effect.zipRight(checkedLately, appended(join(directory, path), content)),
      moveAside: (path) =>
        checkedLately.pipe(
          Effect.zipRight(freshPath),
          Effect.tap((to) => {
            const moved = untilLetGo(fs.rename(join(directory, path), to))
            return Effect.catchIf(moved, isMissing, () => Effect.zipRight(begin, moved))
          })
        ),
      untouchedSince: (path, time, isAsked) =>
        Effect.orElseSucceed(Effect.zipRight(checked, untouchedIn(path, time, isAsked)), () => [])
    }
  })
