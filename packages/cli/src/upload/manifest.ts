/** Remembers every uploaded file, so that no later command uploads it again. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { UploadLedger } from "@stevedore/core/UploadLedger"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { dirname } from "node:path"
import * as JsonLines from "../files/jsonLines.js"
import { UploadedFile } from "../print/uploadedFile.js"

const Forgotten = Schema.Struct({ path: Schema.String, service: Schema.String, forgotten: Schema.Literal(true) })

const Line = Schema.parseJson(Schema.Union(Forgotten, UploadedFile))
const decodeLine = Schema.decodeUnknownEither(Line)
const encodeLine = Schema.encode(Line)

/** What is remembered of one service. */
export interface Manifest {
  /** What is known of a file by its real path, including what another process has recorded since. */
  readonly find: (path: string) => Effect.Effect<Option.Option<UploadedFile>>
  /** Records a file. If that fails, it is logged once, and the only consequence is that it may be uploaded again. */
  readonly add: (file: UploadedFile) => Effect.Effect<void>
}

/** Knows nothing and records nothing. */
export const none: Manifest = { find: () => Effect.succeedNone, add: () => Effect.void }

const folder = "uploaded"

// One file for each service and folder: a command reads only those of the folders that it uploads from.
const fileOf = (service: string, path: string): string =>
  `${folder}/${createHash("sha256").update(`${service}\0${dirname(path)}`).digest("hex").slice(0, 32)}.jsonl`

const linesOf = (text: ReadonlyArray<string>) =>
  // a killed process may have left an incomplete line
  text.flatMap((line) => Either.match(decodeLine(line), { onLeft: () => [], onRight: (one) => [one] }))

const apply = (known: Map<string, UploadedFile>, lines: ReadonlyArray<typeof Line.Type>): void => {
  for (const line of lines) {
    if ("forgotten" in line) known.delete(line.path)
    else known.set(line.path, line)
  }
}

// As many lines as are kept that say nothing any more
const isWorthCompacting = (lines: number, known: number): boolean => lines > 2 * known + 100

const encoded = (files: Iterable<UploadedFile>): Effect.Effect<string> =>
  Effect.map(
    Effect.orElseSucceed(Effect.forEach(files, (file) => encodeLine(file)), () => []),
    (lines) => lines.map((line) => `${line}\n`).join("")
  )

type Directory = Option.Option.Value<Effect.Effect.Success<typeof DiskLedger.privateDirectory>>

interface Opened {
  readonly lines: JsonLines.JsonLines
  readonly known: Map<string, UploadedFile>
  count: number
}

// A directory that others can access is not used: whoever can write there could make files be skipped.
const privateDirectory = Effect.gen(function*() {
  const found = yield* DiskLedger.privateDirectory
  if (Option.isNone(found)) return Option.none<Directory>()
  const problem = yield* Effect.flip(DiskLedger.untilReadable(found.value.checked)).pipe(Effect.option)
  if (Option.isSome(problem)) {
    yield* Effect.logWarning(
      `Files that are already uploaded are neither recorded nor skipped: ${problem.value.message}`
    )
    return Option.none<Directory>()
  }
  return Option.some(found.value)
})

const opener = (directory: Directory) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { lock } = yield* UploadLedger
    const files = new Map<string, Opened>()

    const read = (opened: Opened): Effect.Effect<void, PlatformError> =>
      Effect.map(opened.lines.more, ({ anew, lines }) => {
        const found = linesOf(lines)
        if (anew) {
          opened.known.clear()
          opened.count = 0
        }
        opened.count += lines.length
        apply(opened.known, found)
      })

    // The other processes do not wait: what they add meanwhile is carried over.
    const compact = (file: string, opened: Opened) =>
      Effect.scoped(Effect.gen(function*() {
        if (!(yield* lock(file))) return
        yield* read(opened)
        yield* opened.lines.replace(encoded(opened.known.values()))
        yield* read(opened)
      }))

    return (file: string): Effect.Effect<Opened, PlatformError> =>
      Effect.gen(function*() {
        const before = files.get(file)
        const opened: Opened = before ?? { lines: JsonLines.make(fs, directory, file), known: new Map(), count: 0 }
        files.set(file, opened)
        yield* read(opened)
        if (before === undefined && isWorthCompacting(opened.count, opened.known.size)) {
          yield* Effect.ignore(compact(file, opened))
        }
        return opened
      })
  })

const unreadable = (error: PlatformError) => `Files that are already uploaded are not skipped: ${error.message}`

/**
 * The manifest of one service, in the directory of unfinished uploads, which only its owner can enter: lines of JSON,
 * in one file for each folder of uploaded files. A line is added with each file, by several processes at once if need
 * be. A process that is killed loses at most the line that it was writing.
 */
export const make = (service: string): Effect.Effect<Manifest, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const found = yield* privateDirectory
    if (Option.isNone(found)) return none
    const directory = found.value
    const open = yield* opener(directory)
    const warnRead = DiskLedger.warnOnce()
    const warnAdd = DiskLedger.warnOnce()
    return {
      find: (path) =>
        open(fileOf(service, path)).pipe(
          Effect.map(({ known }) => Option.fromNullable(known.get(path))),
          Effect.catchAll((error) => Effect.as(warnRead(unreadable(error)), Option.none()))
        ),
      add: (file) =>
        Effect.gen(function*() {
          const { lines } = yield* open(fileOf(service, file.path))
          const add = lines.add(yield* encodeLine(file))
          const first = Effect.zipRight(directory.makeDirectory(folder), directory.syncNames(""))
          yield* Effect.catchIf(add, JsonLines.isMissing, () => Effect.zipRight(first, add))
        }).pipe(Effect.catchAll((error) => warnAdd(`An uploaded file cannot be recorded: ${error.message}`)))
    }
  })

/** Everything that is remembered, of every service, ordered by path. */
export const all: Effect.Effect<ReadonlyArray<UploadedFile>, PlatformError, FileSystem.FileSystem> = Effect.gen(
  function*() {
    const fs = yield* FileSystem.FileSystem
    const found = yield* DiskLedger.privateDirectory
    if (Option.isNone(found)) return []
    const directory = found.value
    yield* directory.checked
    const names = yield* Effect.catchIf(
      fs.readDirectory(directory.pathOf(folder)),
      JsonLines.isMissing,
      () => Effect.succeed([])
    )
    const files = yield* Effect.forEach(
      names.filter((name) => name.endsWith(".jsonl")),
      (name) =>
        Effect.map(JsonLines.make(fs, directory, `${folder}/${name}`).more, ({ lines }) => {
          const known = new Map<string, UploadedFile>()
          apply(known, linesOf(lines))
          return [...known.values()]
        })
    )
    return files.flat().sort((one, other) => one.path < other.path ? -1 : 1)
  }
)

/** Forgets files: the next command uploads them again. */
export const forget = (
  files: ReadonlyArray<UploadedFile>
): Effect.Effect<void, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const found = yield* DiskLedger.privateDirectory
    if (Option.isNone(found)) return
    const directory = found.value
    yield* Effect.forEach(files, ({ path, service }) =>
      JsonLines.make(fs, directory, fileOf(service, path)).add(JSON.stringify(
        { path, service, forgotten: true } satisfies typeof Forgotten.Type
      )), { discard: true })
  })
