import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { untilLetGo, untilReadable } from "../file/heldFile.js"
import { isDevice } from "../file/paths.js"
import { isMissing } from "../file/platformError.js"
import type { PrivateDirectory } from "./privateDirectory.js"

// What else is in the directory: no key is named like it.
const others: ReadonlySet<string> = new Set(
  ["downloaded", "finished", "journals", "locks", "running", "temporary", "uploaded"]
)

const isPlain = (segment: string): boolean =>
  /^[a-z0-9][a-z0-9-]{0,63}$/.test(segment) && !isDevice(segment) && !others.has(segment)

const isHash = (segment: string): boolean => /^_[0-9a-f]{40}$/.test(segment)

const isName = (segment: string): boolean => isPlain(segment) || isHash(segment)

/**
 * A segment of a key as a file name: of limited length, without characters that any file system rejects, and in lower
 * case, because some file systems ignore case. The name of a segment is also its own name.
 */
export const nameOf = (segment: string): string =>
  isName(segment) ? segment : `_${createHash("sha256").update(segment).digest("hex").slice(0, 40)}`

// A prefix may contain slashes of its own, such as the id of an upload that its caller chose.
const segmentsOf = (key: string): ReadonlyArray<string> => {
  const end = key.lastIndexOf("/")
  return end === -1 ? [key] : [key.slice(0, end), key.slice(end + 1)]
}

const pathName = (segments: ReadonlyArray<string>): string => segments.map(nameOf).join("/")

// No directory name ends like this, so one key can be a prefix of another.
const suffix = ".json"
const linesSuffix = ".lines"

/**
 * Keys and values as files in a private directory. Those with the same prefix, which is all up to the last slash, are in
 * one directory, so they can be removed at once. Besides its value, a key can have lines, which are appended one at a
 * time. If such a key has a slash, another key with the same prefix must already exist.
 */
export const make = (fs: FileSystem.FileSystem, directory: PrivateDirectory) => {
  const placeOf = (key: string) => {
    const segments = segmentsOf(key)
    return {
      parent: pathName(segments.slice(0, -1)),
      path: directory.pathOf(`${pathName(segments)}${suffix}`)
    }
  }

  const get = (key: string): Effect.Effect<Option.Option<string>, PlatformError> =>
    untilReadable(Effect.zipRight(directory.checked, fs.readFileString(placeOf(key).path))).pipe(
      Effect.map(Option.some),
      Effect.catchIf(isMissing, () => Effect.succeedNone)
    )

  const isAt = (path: string, value: string | Uint8Array): Effect.Effect<boolean> => {
    const expected = typeof value === "string" ? Buffer.from(value) : value
    return Effect.match(fs.readFile(path), {
      onFailure: () => false,
      onSuccess: (content) => Buffer.compare(content, expected) === 0
    })
  }

  // If the response of a network drive is lost, the file has been moved although that failed.
  const replaceAt = (parent: string, path: string, value: string | Uint8Array): Effect.Effect<void, PlatformError> =>
    Effect.gen(function*() {
      const written = yield* directory.writeSynced(value)
      const moved = untilLetGo(fs.rename(written, path))
      const intoNew = directory.makeDirectory(parent).pipe(
        Effect.zipRight(moved),
        Effect.zipRight(directory.syncNames(""))
      )
      yield* moved.pipe(
        Effect.catchIf(isMissing, () => intoNew),
        Effect.tapError(() => Effect.ignore(fs.remove(written, { force: true }))),
        Effect.catchAll((error) => Effect.unlessEffect(Effect.fail(error), isAt(path, value)))
      )
      yield* directory.syncNames(parent)
    }).pipe(Effect.uninterruptible)

  const set = (key: string, value: string | Uint8Array): Effect.Effect<void, PlatformError> => {
    const { parent, path } = placeOf(key)
    return replaceAt(parent, path, value)
  }

  /** Writes a file that is no key's, in a subdirectory, or replaces it in one step. */
  const replace = (parent: string, name: string, value: string): Effect.Effect<void, PlatformError> =>
    replaceAt(parent, directory.pathOf(`${parent}/${name}`), value)

  const linesPath = (key: string): string => `${pathName(segmentsOf(key))}${linesSuffix}`

  // Each line has its own line breaks: one that a killed process left half-written does not spoil the next, and one that a
  // power failure left zeroed not the one before.
  const append = (key: string, line: string): Effect.Effect<void, PlatformError> =>
    Effect.uninterruptible(directory.append(linesPath(key), `\n${line}\n`))

  const lines = (key: string): Effect.Effect<ReadonlyArray<string>, PlatformError> =>
    untilReadable(Effect.zipRight(directory.checked, fs.readFileString(directory.pathOf(linesPath(key))))).pipe(
      Effect.map((text) => text.split("\n").filter((line) => line !== "")),
      Effect.catchIf(isMissing, () => Effect.succeed([]))
    )

  const removeLines = (key: string): Effect.Effect<void, PlatformError> =>
    Effect.zipRight(directory.checked, fs.remove(directory.pathOf(linesPath(key)), { force: true }))

  // Moved away first, so that it disappears in one step: a killed process does not leave half of it.
  const removeAll = (prefix: string): Effect.Effect<void, PlatformError> =>
    Effect.flatMap(
      directory.moveAside(nameOf(prefix)),
      (removed) => untilLetGo(fs.remove(removed, { recursive: true, force: true }))
    ).pipe(Effect.catchIf(isMissing, () => Effect.void), Effect.uninterruptible)

  const prefixes = untilReadable(Effect.zipRight(directory.checked, fs.readDirectory(directory.pathOf("")))).pipe(
    Effect.catchIf(isMissing, () => Effect.succeed([])),
    Effect.map((names) => names.filter(isName))
  )

  // Appending to a key's lines does not count.
  const untouchedSince = (time: number, folder = ""): Effect.Effect<ReadonlyArray<string>> =>
    directory.untouchedSince(folder, time, isName)

  const remove = (key: string): Effect.Effect<void, PlatformError> =>
    Effect.zipRight(directory.checked, fs.remove(placeOf(key).path, { force: true }))

  return { store: { get, set, remove }, replace, removeAll, prefixes, untouchedSince, append, lines, removeLines }
}
