import { mkdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import * as Path from "node:path"

interface Machine {
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
}

// the variable that names the folder of caches, and where it is otherwise, below the user's home
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
 * Where the command may keep itself compiled: a folder of its own, for that of the ledger holds nothing else.
 *
 * @internal
 */
export const directoryOf = ({ environment, home, platform }: Machine): string => {
  const { isAbsolute, join } = platform === "win32" ? Path.win32 : Path.posix
  const [variable, below] = placeOf(platform)
  const given = variable === undefined ? undefined : environment[variable]
  return join(given !== undefined && isAbsolute(given) ? given : join(home, below), "stevedore-compiled")
}

const isPrivate = (directory: string): boolean => {
  const { mode, uid } = statSync(directory)
  // Windows has no modes: the folders of a user are closed to others by their access lists
  return process.geteuid === undefined || (uid === process.geteuid() && (mode & 0o022) === 0)
}

const directoryOfUser = (): string =>
  directoryOf({ platform: process.platform, environment: process.env, home: homedir() })

/**
 * Makes sure that the folder is there and that nobody else can write to it, and gives it; none where that cannot be had,
 * as for a user without a home: the start is then slower, and no more. What is compiled there runs with this user's
 * token: Node's own choice, a folder among the temporary files of all users, could be filled by somebody else.
 *
 * @internal
 */
export const prepare = (find: () => string = directoryOfUser): string | undefined => {
  try {
    const directory = find()
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return isPrivate(directory) ? directory : undefined
  } catch {
    return undefined
  }
}
