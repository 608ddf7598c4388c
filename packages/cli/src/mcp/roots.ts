/** Which files of this machine an agent may name, whatever it writes. */
import { safeName } from "@stevedore/node/SafeName"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Stats } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { type Refused, refused } from "./refused.js"

/** A file below a root. */
export interface Place {
  /** Its real path. */
  readonly path: string
  /** The real path of its root. */
  readonly within: string
  /** Below its root, with slashes. */
  readonly shown: string
  readonly size: number
}

/** What usually holds secrets, by the names of files and of the directories around them, in lower case. */
const secrets: ReadonlyArray<RegExp> = [
  /^\.env($|\.)/,
  /^\.(aws|azure|docker|gcloud|git|gnupg|kube|ssh|password-store)$/,
  /^\.(git-credentials|htpasswd|netrc|npmrc|pgpass|pypirc|my\.cnf|vault-token|yarnrc\.yml)$/,
  /^_netrc$/,
  /^id_(dsa|ecdsa|ed25519|rsa)/,
  /\.(asc|jks|kdbx?|key|keystore|p12|pem|pfx|ppk)$/,
  /^(application_default_)?credentials?($|\.)/,
  /^(client_)?secrets?($|[._-])/,
  /^(auth|token|tokens)\.json$/,
  /^service[-_]?account.*\.json$/,
  /^\.?(terraform\.tfstate|stevedore-token)/
]

const isSecret = (name: string): boolean => {
  const plain = name.normalize("NFKC").toLowerCase()
  return secrets.some((secret) => secret.test(plain))
}

const kinds: ReadonlyArray<readonly [is: (stats: Stats) => boolean, words: string]> = [
  [(stats) => stats.isDirectory(), "is a directory"],
  [(stats) => !stats.isFile(), "is a device, a pipe or a socket"],
  [(stats) => stats.size === 0, "is empty"]
]

const nameInstead = "Name a file by its path below the root, such as folder/interview.mp4."

const reasonOf = (shown: string) => (error: unknown): Refused =>
  Predicate.hasProperty(error, "code") && (error.code === "EACCES" || error.code === "EPERM")
    ? refused(`${shown} cannot be read by this user`, "Ask the user to allow it, or name another file.")
    : refused(`${shown} is not there`, nameInstead)

const asked = <A>(shown: string, run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: reasonOf(shown) })

const isBelow = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)

const slashed = (root: string, path: string): string => relative(root, path).split(sep).join("/")

const isThere = (path: string): Promise<boolean> => NodeFs.lstat(path).then(() => true, () => false)

// As the model wrote it, and no longer than a sentence bears
const said = (path: string): string => path.length > 120 ? `${path.slice(0, 117)}...` : path

const checkText = (path: string): Effect.Effect<void, Refused> =>
  path === "" || path.length > 4096 || /\p{Cc}/u.test(path)
    ? Effect.fail(refused("The path is empty, too long, or has control characters", nameInstead))
    : path.split(/[/\\]/).includes("..")
    ? Effect.fail(refused(`${said(path)} leads up by ".."`, nameInstead))
    : Effect.void

const realOf = (input: string) => (path: string): Effect.Effect<string, InvalidInput> =>
  Effect.tryPromise({
    try: async () => {
      const real = await NodeFs.realpath(path)
      if (!(await NodeFs.stat(real)).isDirectory()) throw new Error("not a directory")
      return real
    },
    catch: () => invalid(input, `${path} is not a directory that can be read`)
  })

/** Whether what a link, another case or another form of a name leads to is what was named. */
const checkReal = (shown: string, path: string, root: string) =>
  Effect.flatMap(asked(shown, () => NodeFs.realpath(path)), (real) =>
    real === path
      ? Effect.void
      : Effect.fail(
        isBelow(root, real)
          ? refused(`${shown} is a link, or its name is written otherwise`, `Name ${slashed(root, real)} instead.`)
          : refused(`${shown} is a link that leads out of the root`, nameInstead)
      ))

/** The rules for the paths of one server. */
export interface Roots {
  /** A file that may be uploaded. */
  readonly find: (path: string) => Effect.Effect<Place, Refused>
  /** Where a download may be written; `name` is what a stranger called the file. */
  readonly target: (path: string | undefined, name: string) => Effect.Effect<Omit<Place, "size">, Refused>
  /** A sentence without the paths of this machine that are below no root. */
  readonly shown: (sentence: string) => string
}

/** The rules for these directories, which must be there. */
export const make = (
  given: {
    readonly roots: ReadonlyArray<string>
    readonly downloads: string | undefined
    readonly allowed: ReadonlyArray<string>
  }
): Effect.Effect<Roots, InvalidInput> =>
  Effect.gen(function*() {
    const roots = yield* Effect.forEach(given.roots, (root) =>
      Effect.map(realOf("--root")(root), (real) => ({ given: resolve(root), real })))
    const downloads = given.downloads === undefined ? undefined : yield* realOf("--allow-downloads")(given.downloads)
    const allowed = new Set(given.allowed.map((name) =>
      name.toLowerCase()
    ))
    const all = [...roots.map(({ real }) => real), ...(downloads === undefined ? [] : [downloads])]

    const pathIn = (root: string, path: string, asGiven: string): string =>
      isAbsolute(path)
        ? isBelow(asGiven, path) ? join(root, relative(asGiven, path)) : path
        : join(root, path)

    const findIn = (
      { given, real: root }: { readonly given: string; readonly real: string },
      path: string
    ): Effect.Effect<Place, Refused> =>
      Effect.gen(function*() {
        const full = pathIn(root, path, given)
        if (!isBelow(root, full)) return yield* refused(`${said(path)} is not below a root`, nameInstead)
        const shown = slashed(root, full)
        yield* checkReal(shown, full, root)
        const names = shown.split("/")
        const secret = names.find((name) => isSecret(name) && !allowed.has(name.toLowerCase()))
        if (secret !== undefined) {
          return yield* refused(
            `${said(secret)} usually holds secrets`,
            "Name another file. Only the user can allow it, by --allow-secret at the start of this server."
          )
        }
        const stats = yield* asked(shown, () => NodeFs.lstat(full))
        const wrong = kinds.find(([is]) => is(stats))
        if (wrong !== undefined) return yield* refused(`${shown} ${wrong[1]}`, nameInstead)
        return { path: full, within: root, shown, size: stats.size }
      })

    const target: Roots["target"] = (path, name) =>
      Effect.gen(function*() {
        if (downloads === undefined) {
          return yield* refused(
            "Downloads are not allowed",
            "Only the user can allow them, by --allow-downloads at the start of this server."
          )
        }
        const wanted = path ?? safeName(name)
        yield* checkText(wanted)
        const full = pathIn(downloads, wanted, given.downloads ?? downloads)
        if (!isBelow(downloads, full)) {
          return yield* refused(`${said(wanted)} is not below the directory of downloads`, nameInstead)
        }
        const shown = slashed(downloads, full)
        const last = basename(full)
        if (safeName(last) !== last) {
          return yield* refused(`${shown} has no name for a file`, `Name it ${safeName(last)}, for example.`)
        }
        const folder = dirname(full)
        if (folder !== downloads) yield* checkReal(slashed(downloads, folder), folder, downloads)
        if (yield* Effect.promise(() => isThere(full))) {
          return yield* refused(`${shown} is there already`, "Name another path: nothing is replaced.")
        }
        return { path: full, within: downloads, shown }
      })

    // A relative path is of the first root that has it
    const rootOf = (path: string) =>
      Effect.map(
        Effect.findFirst(roots, (root) => {
          const full = pathIn(root.real, path, root.given)
          return Effect.promise(() => isBelow(root.real, full) ? isThere(full) : Promise.resolve(false))
        }),
        Option.getOrElse(() => roots[0])
      )

    const find: Roots["find"] = (path) =>
      Effect.gen(function*() {
        yield* checkText(path)
        const root = yield* rootOf(path)
        if (root === undefined) {
          return yield* refused("No directory may be read", "Only the user can allow one, by --root.")
        }
        return yield* findIn(root, path)
      })

    // only what begins with a directory of this machine is a path of it: a path of the service may stand in a sentence, too
    const tops = yield* Effect.promise(() => NodeFs.readdir("/").catch(() => []))
    const ofMachine = new RegExp(
      `(?<![\\w:/.])(?:/(?:${
        tops.map((name) => name.replace(/[^\w]/g, "\\$&")).join("|")
      })|[A-Za-z]:\\\\)[^\\s'"\`,;()]*`,
      "g"
    )
    const shown: Roots["shown"] = (sentence) =>
      sentence.replace(ofMachine, (path) => {
        const root = all.find((root) => isBelow(root, path))
        return root === undefined ? "(a path of this machine)" : slashed(root, path)
      })

    return { find, target, shown }
  })
