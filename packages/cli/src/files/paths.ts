/** Which files the paths of a command line refer to. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { SourceError } from "@stevedore/core/SourceError"
import * as FileSource from "@stevedore/node/FileSource"
import * as Arr from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import type { SkipReason } from "../print/reports.js"
import type { Row } from "./filesFrom.js"

/** A file to upload. */
export interface FileToUpload {
  readonly path: string
  /** The path without links: what the file is remembered by. */
  readonly real: string
  /**
   * For a file found in a directory, its path relative to that directory, with slashes; none for a file that was named
   * itself.
   */
  readonly name: Option.Option<string>
  /** The real path of that directory: unless links are followed on request, none leads out of it. */
  readonly within?: string | undefined
  /** Whether a link on the way from the directory to it was followed, on request. */
  readonly linked: boolean
  /** Where it is on the web, if it is not on this machine. Its query may be a secret. */
  readonly url: Option.Option<Redacted.Redacted<string>>
  /** What a list says about it, if it is named in one. */
  readonly row: Option.Option<Row>
  /** In bytes; 0 if it cannot be determined. */
  readonly size: number
  /** When it was last modified, in milliseconds since 1970; none if it cannot be inspected. */
  readonly modified: Option.Option<number>
  /** Why it cannot be uploaded, if this was noticed while its directory was read. */
  readonly refused: Option.Option<SourceError>
}

/** What is in a directory and is not uploaded, without being a failure. */
export interface SkippedEntry {
  readonly path: string
  /** As of {@link FileToUpload}. */
  readonly name: Option.Option<string>
  readonly reason: SkipReason
}

type Entry = { readonly _tag: "File"; readonly file: FileToUpload } | ({ readonly _tag: "Skipped" } & SkippedEntry)

type Entries = Effect.Effect<ReadonlyArray<Entry>, never, FileSystem.FileSystem | Path.Path>

const itself = (path: string): FileToUpload => ({
  path,
  real: path,
  name: Option.none(),
  linked: false,
  url: Option.none(),
  row: Option.none(),
  size: 0,
  modified: Option.none(),
  refused: Option.none()
})

const entryOf = (file: FileToUpload): Entry => ({ _tag: "File", file })

const refused = (file: FileToUpload, error: SourceError): Entry => entryOf({ ...file, refused: Option.some(error) })

const inspected = (file: FileToUpload, { mtime, size }: FileSystem.File.Info): FileToUpload => ({
  ...file,
  size: Number(size),
  modified: Option.map(mtime, (date) => date.getTime())
})

const fileAt = (file: FileToUpload) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.match(fs.stat(file.path), {
      // one that cannot be inspected is tried anyway, so that its failure is reported
      onFailure: () => file,
      onSuccess: (info) => inspected(file, info)
    }))

/** Where a directory is read, and below which name. */
interface Place {
  readonly path: string
  readonly name: string
  readonly linked: boolean
  /** The real paths of the directories on the way to it, for links that lead back. */
  readonly above: ReadonlySet<string>
}

const skipped = (file: FileToUpload, reason: SkipReason): Entry => ({
  _tag: "Skipped",
  path: file.path,
  name: file.name,
  reason
})

const linked = (file: FileToUpload, { above }: Place, followLinks: boolean): Entries =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const isLink = yield* Effect.isSuccess(fs.readLink(file.path))
    const target = yield* Effect.option(Effect.all([fs.realPath(file.path), fs.stat(file.path)]))
    if (!isLink) return [skipped(file, "special")]
    if (!followLinks || Option.isNone(target)) return [skipped(file, "link")]
    const [real, info] = target.value
    const followed = { ...inspected(file, info), real, linked: true }
    if (info.type === "File") return [info.size === FileSystem.Size(0) ? skipped(file, "empty") : entryOf(followed)]
    if (info.type !== "Directory") return [skipped(file, "special")]
    // it leads back to where it is
    if (above.has(real)) return [skipped(file, "link")]
    const name = Option.getOrElse(file.name, () => "")
    return yield* filesIn({ path: file.path, name: `${name}/`, linked: true, above: new Set([...above, real]) }, true)
  })

type Found = Stream.Stream.Success<ReturnType<typeof FileSource.entriesOf>>

const entryIn = (place: Place, followLinks: boolean) => (entry: Found): Entries =>
  Effect.gen(function*() {
    const { join } = yield* Path.Path
    const file = {
      ...itself(join(place.path, entry.name)),
      name: Option.some(`${place.name}${entry.name}`),
      linked: place.linked
    }
    if (entry._tag === "Refused") {
      return entry.error.reason === "NotAFile"
        ? yield* linked(file, place, followLinks)
        : [refused(file, entry.error)]
    }
    const found = yield* fileAt({ ...file, within: entry.within })
    return [found.size === 0 && Option.isSome(found.modified) ? skipped(found, "empty") : entryOf(found)]
  })

const filesIn = (place: Place, followLinks: boolean): Entries =>
  FileSource.entriesOf(place.path, { recursive: true }).pipe(
    Stream.mapEffect(entryIn(place, followLinks), { concurrency: 16 }),
    Stream.runCollect,
    Effect.map((found) => Chunk.toReadonlyArray(found).flat()),
    Effect.catchAll((error) => Effect.succeed([refused(itself(place.path), error)]))
  )

/** What is in a directory, one after the other, however much it is: by the rules of {@link expand}, without links. */
export const within = (path: string, options: { readonly recursive: boolean }) =>
  Stream.mapEffect(
    FileSource.entriesOf(path, options),
    entryIn({ path, name: "", linked: false, above: new Set() }, false),
    { concurrency: 16 }
  ).pipe(Stream.mapConcat((entries) => entries))

/** The path that stands for standard input. */
export const standardInput = "-"

const named = (path: string, real: string, followLinks: boolean): Entries =>
  path === standardInput ? Effect.succeed([entryOf(itself(path))]) : onDisk(path, real, followLinks)

const onDisk = (path: string, real: string, followLinks: boolean): Entries =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.matchEffect(fs.stat(path), {
      onFailure: () => Effect.succeed([entryOf(itself(path))]),
      onSuccess: (info) =>
        info.type === "Directory"
          ? filesIn({ path, name: "", linked: false, above: new Set([real]) }, followLinks)
          : Effect.succeed([entryOf(inspected(itself(path), info))])
    }))

// By the real path of what was named: below a directory, only links are resolved again.
const withRealPaths = (path: string, followLinks: boolean) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join, resolve } = yield* Path.Path
    const real = path === standardInput ? path : yield* Effect.orElseSucceed(fs.realPath(path), () => resolve(path))
    const realOf = (file: FileToUpload) =>
      file.linked
        ? Effect.orElseSucceed(fs.realPath(file.path), () => resolve(file.path))
        : Effect.succeed(Option.match(file.name, { onNone: () => real, onSome: (name) => join(real, name) }))
    return yield* Effect.forEach(
      yield* named(path, real, followLinks),
      (entry) =>
        entry._tag === "Skipped"
          ? Effect.succeed(entry)
          : Effect.map(realOf(entry.file), (real) => entryOf({ ...entry.file, real }))
    )
  })

const isSameText = (one: string) => (other: string): boolean => one.normalize("NFC") === other.normalize("NFC")

/**
 * A path as it is on disk: where there is nothing of its name, of the one name that looks the same. Accents are composed
 * on a keyboard, and decomposed in names that came from a Mac.
 */
export const asOnDisk = (path: string): Effect.Effect<string, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { basename, dirname, join } = yield* Path.Path
    if (!/\P{ASCII}/u.test(path) || (yield* Effect.orElseSucceed(fs.exists(path), () => true))) return path
    const above = dirname(path)
    if (above === path) return path
    const directory = yield* asOnDisk(above)
    const names = yield* Effect.orElseSucceed(fs.readDirectory(directory), () => [])
    const [name, ...others] = names.filter(isSameText(basename(path)))
    return name === undefined || others.length > 0 ? path : join(directory, name)
  })

// If the working directory was removed, a relative path has no meaning, and resolving it throws.
const checkDirectory = (paths: ReadonlyArray<string>): Effect.Effect<void, InvalidInput, Path.Path> =>
  Effect.flatMap(
    Path.Path,
    ({ isAbsolute, resolve }) =>
      Effect.asVoid(Effect.transposeMapOption(Arr.findFirst(paths, (path) => !isAbsolute(path)), (path) =>
        Effect.try({
          try: () => resolve(path),
          catch: () => invalid(path, "the current directory no longer exists: change to another")
        })))
  )

/** A file on the web, from a row of a list. */
export const onTheWeb = (row: Row, shown: string): FileToUpload => ({
  ...itself(shown),
  url: Option.some(Redacted.make(row.what)),
  row: Option.some(row)
})

/** What the paths of a command line refer to. */
export interface Expanded {
  readonly files: ReadonlyArray<FileToUpload>
  /** What was named more than once, in whatever way, under each of the further names: it is uploaded only once. */
  readonly repeated: ReadonlyArray<FileToUpload>
  /** What is in the directories and is not uploaded. */
  readonly skipped: ReadonlyArray<SkippedEntry>
}

/**
 * The files to upload: each named file, and for a directory the files in it and below, ordered by name. Links in a
 * directory, what is no file, and empty files are skipped, unless links are to be followed; one that leads back to where
 * it is is skipped in any case. What cannot be uploaded (an unreadable directory) is included, so that it is reported as
 * its own failure. Each file is listed once, as first named.
 */
export const expand = (
  paths: ReadonlyArray<string>,
  { followLinks = false, rows = new Map(), web = [] }: {
    readonly followLinks?: boolean | undefined
    /** What is said about paths. */
    readonly rows?: ReadonlyMap<string, Row> | undefined
    /** Files on the web, which follow those on this machine. */
    readonly web?: ReadonlyArray<FileToUpload> | undefined
  } = {}
): Effect.Effect<Expanded, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    yield* checkDirectory(paths)
    const named = yield* Effect.forEach(paths, asOnDisk)
    const said = new Map(
      paths.flatMap((path, index) => {
        const row = rows.get(path)
        return row === undefined ? [] : [[named[index] ?? path, row] as const]
      })
    )
    const found = (yield* Effect.forEach(named, (path) => withRealPaths(path, followLinks))).flat()
    const all = [
      ...found.flatMap((entry) =>
        entry._tag === "File" ? [{ ...entry.file, row: Option.fromNullable(said.get(entry.file.path)) }] : []
      ),
      ...web
    ]
    const first = new Map(all.toReversed().map((file) => [file.real, file]))
    const [repeated, files] = Arr.partition(all, (file) => first.get(file.real) === file)
    return { files, repeated, skipped: found.filter((entry) => entry._tag === "Skipped") }
  })
