import { mkdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import * as Path from "node:path"

interface Machine {
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
}

// the variable that names the cache directory, and its default location in the user's home
const placeOf = (platform: NodeJS.Platform): readonly [string | undefined, string] => {
  switch (platform) {
    case "darwin":
      return [undefined, "Library/Caches"]
    case "win32":
      return ["LOCALAPPDATA", "AppData/Local"]
    default:
      return ["XDG_CACHE_HOME", ".cache"]
  }
}

/**
 * Where the command may keep its compiled code: in its own directory, because that of the ledger holds nothing else.
 */
export const directoryOf = ({ environment, home, platform }: Machine): string => {
  const { isAbsolute, join } = platform === "win32" ? Path.win32 : Path.posix
  const [variable, below] = placeOf(platform)
  const given = variable === undefined ? undefined : environment[variable]
  return join(given !== undefined && isAbsolute(given) ? given : join(home, below), "stevedore-compiled")
}

const isPrivate = (directory: string): boolean => {
  const { mode, uid } = statSync(directory)
  // Windows has no modes: access lists keep other users out of a user's directories
  return process.geteuid === undefined || (uid === process.geteuid() && (mode & 0o022) === 0)
}

const directoryOfUser = (): string =>
  directoryOf({ platform: process.platform, environment: process.env, home: homedir() })

/**
 * Ensures that the directory exists and that nobody else can write to it, and returns it; undefined if that is not
 * possible, as for a user without a home or with an empty `HOME`, which only makes the start slower. Code compiled there
 * runs with this user's token: Node's own choice, a directory among the temporary files of all users, could be filled by
 * somebody else.
 */
export const prepare = (find: () => string = directoryOfUser): string | undefined => {
  try {
    const directory = find()
    if (!Path.isAbsolute(directory)) return undefined
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return isPrivate(directory) ? directory : undefined
  } catch {
    return undefined
  }
}
