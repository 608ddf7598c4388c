import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Stats } from "node:fs"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { basename, dirname, join, sep, win32 } from "node:path"
import { TargetUnwritable } from "../DownloadTargetError.js"
import * as WindowsNames from "../file/paths.js"

export const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : undefined

export const attempt = <A>(target: string, run: () => Promise<A>): Effect.Effect<A, TargetUnwritable> =>
  Effect.tryPromise({ try: run, catch: (cause) => new TargetUnwritable({ path: target, code: codeOf(cause) }) })

export const exists = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() => NodeFs.lstat(path).then(() => true, () => false))

// A path that names a directory, whether or not it exists, cannot be a file.
const namesDirectory = (target: string): boolean => target === "" || target.endsWith("/") || target.endsWith(sep)

/**
 * Whether a system can have a file of this name. Of a name that it cannot have, Windows says just that no such file is
 * there.
 */
export const canName = (target: string, platform: NodeJS.Platform = process.platform): boolean =>
  !namesDirectory(target) && !(platform === "win32" && win32.basename(target).search(WindowsNames.forbidden) !== -1)

const checkName = (target: string): Effect.Effect<void, TargetUnwritable> =>
  attempt(target, () => NodeFs.lstat(target)).pipe(
    Effect.asVoid,
    Effect.catchIf(({ code }) => code === "ENOENT" && canName(target), () => Effect.void)
  )

/**
 * Fails if a directory, a pipe or a device is at the target, even behind a link: none of them is replaced. Also fails
 * if no file can have this name: the part beside it has another name, so this would otherwise show only at the end.
 */
export const checkPlace = (target: string): Effect.Effect<void, TargetUnwritable> =>
  Effect.flatMap(
    Effect.promise(() => NodeFs.stat(target).catch(() => undefined)),
    (there) =>
      there === undefined ? checkName(target) : there.isFile() ? Effect.void : Effect.fail(
        new TargetUnwritable({ path: target, occupied: there.isDirectory() ? "Directory" : "NotAFile" })
      )
  )

/** Fails if nothing can be written beside the target. */
export const checkDirectory = (target: string): Effect.Effect<void, TargetUnwritable> =>
  attempt(target, () => NodeFs.access(dirname(target), constants.W_OK))

/**
 * The places of Linux's `/proc/self/mountinfo`: the fifth field of each line, in which blanks and backslashes are
 * written as octal numbers.
 */
export const mountPointsOf = (mountInfo: string): ReadonlySet<string> =>
  new Set(
    mountInfo.split("\n").map((line) =>
      (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)))
    )
  )

const isMountPoint = async (target: string): Promise<boolean> => {
  const mounts = mountPointsOf(await NodeFs.readFile("/proc/self/mountinfo", "utf8").catch(() => ""))
  return mounts.has(join(await NodeFs.realpath(dirname(target)), basename(target)))
}

const sticky = 0o1000

/**
 * Whether only the owner of a file, or of its directory, may replace it there, and this user is neither, as in `/tmp`.
 */
export const isOfOwnerOnly = (
  directory: Pick<Stats, "mode" | "uid">,
  file: Pick<Stats, "uid">,
  user: number | undefined
): boolean => (directory.mode & sticky) !== 0 && user !== undefined && ![0, directory.uid, file.uid].includes(user)

// An immutable file, and one that can only be appended to, may not be opened for writing by anybody, whatever its mode.
const isImmutable = (target: string): Promise<boolean> =>
  NodeFs.open(target, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).then(
    (handle) => handle.close().then(() => false),
    (cause) => codeOf(cause) === "EPERM"
  )

const obstacleTo = async (target: string): Promise<"MountPoint" | "Protected" | undefined> => {
  const there = await NodeFs.lstat(target).catch(() => undefined)
  // only what is there is replaced, and Windows has none of these
  if (there === undefined || process.platform === "win32") return undefined
  if (await isMountPoint(target)) return "MountPoint"
  const directory = await NodeFs.stat(dirname(target))
  const isProtected = isOfOwnerOnly(directory, there, process.geteuid?.()) || await isImmutable(target)
  return isProtected ? "Protected" : undefined
}

/** Fails if a rename cannot replace what is at the target, which would otherwise show only when all bytes are there. */
export const checkReplaceable = (target: string): Effect.Effect<void, TargetUnwritable> =>
  Effect.flatMap(
    attempt(target, () => obstacleTo(target)),
    (occupied) => occupied === undefined ? Effect.void : Effect.fail(new TargetUnwritable({ path: target, occupied }))
  )
