import { SourceUnreadable } from "@stevedore/core/SourceError"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as NodeFs from "node:fs/promises"
import { dirname, join } from "node:path"
import { untilFree } from "./heldFile.js"
import * as Within from "./paths.js"
import { attempt } from "./sourceFile.js"

/** An entry of a folder, by its relative name with slashes: a file, or why it cannot be uploaded. */
export type FolderEntry =
  | { readonly _tag: "File"; readonly name: string; readonly path: string; readonly within: string }
  | { readonly _tag: "Refused"; readonly name: string; readonly error: SourceUnreadable }

type Kind = "File" | "Folder" | "Other"

interface Named {
  readonly name: string
  readonly kind: Kind
}

const notAFile = (name: string) => new SourceUnreadable({ fileName: name, reason: "NotAFile" })

const listed = (below: Within.Below, name: string): Effect.Effect<ReadonlyArray<Named>, SourceUnreadable> =>
  untilFree(attempt(name, async () => {
    const entries = await Within.list(below, () => notAFile(name))
    return entries
      .map((entry): Named => ({
        name: entry.name,
        kind: entry.isFile() ? "File" : entry.isDirectory() ? "Folder" : "Other"
      }))
      .sort((one, other) => one.name < other.name ? -1 : 1)
  }))

const refused = (name: string, error: SourceUnreadable): FolderEntry => ({ _tag: "Refused", name, error })

const below = (root: string, relative: string, { kind, name: own }: Named, recursive: boolean) => {
  const name = relative === "" ? own : `${relative}/${own}`
  switch (kind) {
    case "File":
      return Stream.succeed<FolderEntry>({ _tag: "File", name, path: join(root, name), within: root })
    case "Folder":
      return recursive
        ? Stream.catchAll(inFolder(root, name, recursive), (error) => Stream.succeed(refused(name, error)))
        : Stream.empty
    case "Other":
      return Stream.succeed(refused(name, notAFile(name)))
  }
}

const inFolder = (
  root: string,
  relative: string,
  recursive: boolean
): Stream.Stream<FolderEntry, SourceUnreadable> =>
  Stream.unwrap(
    Effect.map(
      listed({ path: join(root, relative), within: root }, relative === "" ? root : relative),
      (entries) => Stream.flatMap(Stream.fromIterable(entries), (entry) => below(root, relative, entry, recursive))
    )
  )

/**
 * The entries of a folder, ordered by name, by their real paths. An entry that cannot be read is refused individually.
 * Links are not followed, except that the folder itself may be one. Only the names in the folders on the way down to the
 * current one are in memory.
 */
export const entriesOf = (
  folder: string,
  { recursive }: { readonly recursive: boolean }
): Stream.Stream<FolderEntry, SourceUnreadable> =>
  Stream.unwrap(
    Effect.map(attempt(folder, () => NodeFs.realpath(folder)), (root) => inFolder(root, "", recursive))
  )

// The entry and its parent folders, as far as its name reaches.
const wayTo = (
  { name, path }: { readonly name: string; readonly path: string }
): ReadonlyArray<string> => Arr.scan(name.split("/").slice(1), path, (below) => dirname(below))

/**
 * Fails if a link has replaced an entry, or a folder on the way to it, since the folder was read, without opening what
 * the link leads to. A link that appears later is noticed when the entry is opened.
 */
export const checkLinks = (
  entry: { readonly name: string; readonly path: string }
): Effect.Effect<void, SourceUnreadable> =>
  Effect.forEach(wayTo(entry), (path) =>
    Effect.filterOrFail(
      attempt(entry.name, () => NodeFs.lstat(path)),
      (stats) => !stats.isSymbolicLink(),
      () => notAFile(entry.name)
    ), { discard: true })
