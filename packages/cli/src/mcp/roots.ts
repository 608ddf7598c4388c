/** Which files of this machine an agent may name, whatever it writes. */
import { safeName } from "@stevedore/node/SafeName"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { BigIntStats } from "node:fs"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { type Refused, refused } from "./answers.js"
import type { Options } from "./options.js"
import { isSecret, ofService } from "./secrets.js"

/** A place below a directory that an agent may name. */
export interface Target {
  /** Its real path. */
  readonly path: string
  /** Below that directory, with slashes. */
  readonly shown: string
}

/** A file that may be uploaded. */
export interface Place extends Target {
  /** The real path of its root. */
  readonly within: string
  readonly size: number
  /** When its content was changed, and when its name or its rights were. */
  readonly dates: string
}

const forUploads = {
  called: "the root",
  next: "Name a file by its path below the root, such as folder/interview.mp4."
}

const forDownloads = {
  called: "the directory of downloads",
  next: "Name a new file by its path below the directory of downloads, such as interview.mp4."
}

/** A directory below which an agent may name files: as it was given, and by its real path. */
type Ground = typeof forUploads & { readonly given: string; readonly real: string }

const allowedBy = (option: string) => `Only the user can allow it, by ${option} at the start of this server.`

const secretsAllowed = allowedBy("--allow-secret")
const anotherFile = `Name another file. ${secretsAllowed}`

const isBelow = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

const slashed = (root: string, path: string): string => relative(root, path).split(sep).join("/")

/** Whether there is something at a path, be it a link that leads nowhere. */
export const isThere = (path: string): Effect.Effect<boolean> =>
  Effect.promise(() => NodeFs.lstat(path).then(() => true, () => false))

// As the model wrote it, and no longer than a sentence bears
const said = (path: string): string => path.length > 120 ? `${path.slice(0, 117)}...` : path

const asked = <A>(shown: string, next: string, run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (error) =>
      Predicate.hasProperty(error, "code") && (error.code === "EACCES" || error.code === "EPERM")
        ? refused(`${shown} cannot be read by this user`, "Ask the user to allow it, or name another file.")
        : refused(`${shown} is not there`, next)
  })

const groundOf = (option: string, words: typeof forUploads) => (path: string): Effect.Effect<Ground, InvalidInput> =>
  Effect.gen(function*() {
    const [real, names] = yield* Effect.tryPromise({
      try: () => Promise.all([NodeFs.realpath(path), NodeFs.readdir(path)]),
      catch: () => invalid(option, `${path} is not a directory that can be read`)
    })
    return ofService.every((name) => names.includes(name))
      ? yield* invalid(option, `${path} has the data and the keys of stevedore serve`)
      : { given: resolve(path), real, ...words }
  })

const pathIn = ({ given, real }: Ground, path: string): string =>
  isAbsolute(path) ? isBelow(given, path) ? join(real, relative(given, path)) : path : join(real, path)

const below = (ground: Ground, path: string): Effect.Effect<Target, Refused> => {
  const full = pathIn(ground, path)
  return path === "" || path.length > 4096 || /\p{Cc}/u.test(path)
    ? refused("The path is empty, too long, or has control characters", ground.next)
    : path.split(/[/\\]/).includes("..")
    ? refused(`${said(path)} leads up by ".."`, ground.next)
    : isBelow(ground.real, full)
    ? Effect.succeed({ path: full, shown: slashed(ground.real, full) })
    : refused(`${said(path)} is not below ${ground.called}`, ground.next)
}

/** Whether what a link, another case or another form of a name leads to is what was named. */
const checkReal = ({ path, shown }: Target, { called, next, real: root }: Ground): Effect.Effect<void, Refused> =>
  Effect.flatMap(asked(shown, next, () => NodeFs.realpath(path)), (real) =>
    real === path
      ? Effect.void
      : isBelow(root, real)
      ? refused(`${shown} is a link, or its name is written otherwise`, `Name ${slashed(root, real)} instead.`)
      : refused(`${shown} is a link that leads out of ${called}`, next))

const folderOf = ({ path }: Pick<Target, "path">, { called, real }: Ground): Target => {
  const folder = dirname(path)
  return { path: folder, shown: slashed(real, folder) || called }
}

const kinds: ReadonlyArray<readonly [is: (stats: BigIntStats) => boolean, words: string]> = [
  [(stats) => stats.isDirectory(), "is a directory"],
  [(stats) => !stats.isFile(), "is a device, a pipe or a socket"],
  [(stats) => stats.size === 0n, "is empty"]
]

// From below the root to the file
const checkSecrets = ({ shown }: Target, { real }: Ground, allowed: ReadonlySet<string>) =>
  Effect.forEach(shown.split("/"), (name, index) =>
    Effect.gen(function*() {
      if (allowed.has(name.toLowerCase())) return
      if (isSecret(name)) return yield* refused(`${said(name)} usually holds secrets`, anotherFile)
      const to = shown.split("/").slice(0, index + 1).join("/")
      if (yield* Effect.exists(ofService, (own) => isThere(join(real, to, own)))) {
        return yield* refused(`${to} has the data and the keys of stevedore serve`, anotherFile)
      }
    }), { discard: true })

const placed = (ground: Ground, path: string, allowed: ReadonlySet<string>): Effect.Effect<Place, Refused> =>
  Effect.gen(function*() {
    const target = yield* below(ground, path)
    yield* checkReal(target, ground)
    yield* checkSecrets(target, ground, allowed)
    const stats = yield* asked(target.shown, ground.next, () => NodeFs.lstat(target.path, { bigint: true }))
    const [, wrong] = kinds.find(([is]) => is(stats)) ?? []
    if (wrong !== undefined) return yield* refused(`${target.shown} ${wrong}`, ground.next)
    if (stats.nlink > 1n && !allowed.has(basename(target.path).toLowerCase())) {
      return yield* refused(`${target.shown} has another name, by a hard link`, `Name a copy. ${secretsAllowed}`)
    }
    const { ctimeNs, mtimeNs, size } = stats
    return { ...target, within: ground.real, size: Number(size), dates: `${mtimeNs} ${ctimeNs}` }
  })

const targeted = (ground: Ground, path: string): Effect.Effect<Target, Refused> =>
  Effect.gen(function*() {
    const target = yield* below(ground, path)
    const name = basename(target.path)
    if (safeName(name) !== name) {
      return yield* refused(`${target.shown} has no name for a file`, `Name it ${safeName(name)}, for example.`)
    }
    yield* checkReal(folderOf(target, ground), ground)
    return target
  })

// How the kernel names what is open
const byNumber = /\/proc\/self\/fd\/\d+\//g

const openedIn = (ground: Ground, path: string): Effect.Effect<string, Refused, Scope.Scope> =>
  Effect.gen(function*() {
    const folder = folderOf({ path }, ground)
    yield* checkReal(folder, ground)
    if (process.platform !== "linux") return path
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
    const { fd } = yield* Effect.acquireRelease(
      asked(folder.shown, ground.next, () => NodeFs.open(folder.path, flags)),
      (handle) => Effect.promise(() => handle.close().catch(() => undefined))
    )
    const open = `/proc/self/fd/${fd}`
    return (yield* asked(folder.shown, ground.next, () => NodeFs.realpath(open))) === folder.path
      ? join(open, basename(path))
      : yield* refused(`${folder.shown} is another directory now`, ground.next)
  })

/** The rules for the paths of one server. */
export interface Roots {
  /** A file that may be uploaded. */
  readonly find: (path: string) => Effect.Effect<Place, Refused>
  /** Where a download may be written; `name` is what a stranger called the file. */
  readonly target: (path: string | undefined, name: string) => Effect.Effect<Target, Refused>
  /**
   * The path by which a target is written, in a directory that stays the one that was looked at for as long as the scope
   * does, whatever takes its place. Only Linux has such paths; elsewhere it is looked at just before.
   */
  readonly opened: (target: string) => Effect.Effect<string, Refused, Scope.Scope>
  /** A sentence without the paths of this machine that are below no root. */
  readonly shown: (sentence: string) => string
  /** How many directories may be read, and whether one may be written to. */
  readonly counts: { readonly roots: number; readonly downloads: boolean }
}

/** The rules for these directories, which must be there. */
export const make = (
  given: Pick<Options, "roots" | "downloads" | "allowed">
): Effect.Effect<Roots, InvalidInput> =>
  Effect.gen(function*() {
    const roots = yield* Effect.forEach(given.roots, groundOf("--root", forUploads))
    const downloads = yield* Effect.transposeMapOption(given.downloads, groundOf("--allow-downloads", forDownloads))
    const allowed = new Set(given.allowed.map((name) => name.toLowerCase()))
    const writable = Effect.mapError(downloads, () =>
      refused("Downloads are not allowed", allowedBy("--allow-downloads")))

    // A relative path is of the first root that has it
    const rootOf = (path: string) =>
      Effect.findFirst(roots, (ground) =>
        isThere(pathIn(ground, path))).pipe(
          Effect.map(Option.orElse(() => Option.fromNullable(roots[0]))),
          Effect.flatMap(Effect.mapError(() => refused("No directory may be read", allowedBy("--root"))))
        )

    // only what begins with a directory of this machine is a path of it: a path of the service may stand in a sentence, too
    const tops = yield* Effect.promise(() => NodeFs.readdir("/").catch(() => []))
    const escaped = tops.map((name) => name.replace(/[^\w]/g, "\\$&")).join("|")
    const ofMachine = new RegExp(`(?<![\\w:/.])(?:/(?:${escaped})|[A-Za-z]:\\\\)[^\\s'"\`,;()]*`, "g")
    const all = [...roots, ...Option.toArray(downloads)]

    return {
      find: (path) => Effect.flatMap(rootOf(path), (ground) => placed(ground, path, allowed)),
      target: (path, name) => Effect.flatMap(writable, (ground) => targeted(ground, path ?? safeName(name))),
      opened: (target) => Effect.flatMap(writable, (ground) => openedIn(ground, target)),
      counts: { roots: roots.length, downloads: Option.isSome(downloads) },
      shown: (sentence) =>
        sentence.replace(byNumber, "").replace(ofMachine, (path) => {
          const ground = all.find(({ real }) => isBelow(real, path))
          return ground === undefined ? "(a path of this machine)" : slashed(ground.real, path)
        })
    }
  })
