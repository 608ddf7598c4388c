import * as FileSystem from "@effect/platform/FileSystem"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import { safeName } from "@stevedore/node/SafeName"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { extname, join } from "node:path"
import * as JsonLines from "../files/jsonLines.js"

/** A file of a service in a directory: which it is, and what it was like when it was saved there. */
const Entry = Schema.Struct({
  name: Schema.String,
  /** The name that it was to have. It has another where that was taken. */
  wanted: Schema.String,
  fileId: Schema.String,
  size: Schema.Number,
  /** In milliseconds since 1970. */
  modified: Schema.Number
})

export type Entry = typeof Entry.Type

const Line = Schema.parseJson(Entry)
const decodeLine = Schema.decodeOption(Line)
const encodeLine = Schema.encode(Line)

// Some file systems ignore case, and some how an accent is written
const folded = (name: string): string => name.normalize("NFC").toLowerCase()

const longestName = 255

const longestId = 64

const bytes = (text: string): number => Buffer.byteLength(text)

const withEnd = (name: string, end: string): string => {
  const extension = extname(name)
  const tail = `${end}${extension}`
  const stem = [...name.slice(0, name.length - extension.length)]
  while (stem.length > 0 && bytes(stem.join("")) + bytes(tail) > longestName) stem.pop()
  return safeName(`${stem.join("")}${tail}`)
}

const idIn = (fileId: string): string =>
  fileId.length > longestId ? createHash("sha256").update(fileId).digest("hex").slice(0, 32) : fileId

const nth = (wanted: string, fileId: string, n: number): string =>
  n === 0 ? wanted : withEnd(wanted, n === 1 ? `-${idIn(fileId)}` : `-${idIn(fileId)}-${n}`)

/** Which name a file gets. */
export interface Naming {
  /** What is in the directory by earlier commands, by name. */
  readonly known: ReadonlyMap<string, Entry>
  /** Whether anything has that name there. */
  readonly isThere: (name: string) => boolean
  /** Whether a name that another file of the service has there may be given all the same, to replace that. */
  readonly overwrite: boolean
}

/**
 * The names of files in one directory, in the order in which they are asked for. A file keeps the name that it has there.
 * The first of several with one name gets it, and each other a name with its id in it that nothing has.
 */
export const makeNames = ({ isThere, known, overwrite }: Naming): (name: string, fileId: string) => string => {
  const taken = new Set<string>()
  const owners = new Map([...known.values()].map((entry) => [folded(entry.name), entry]))
  return (name, fileId) => {
    const wanted = safeName(name)
    const before = [...known.values()].find((one) =>
      one.fileId === fileId && one.wanted === wanted && !taken.has(folded(one.name))
    )
    const isFree = (name: string, n: number): boolean => {
      const owner = owners.get(folded(name))
      return !taken.has(folded(name)) &&
        (n === 0 ? owner === undefined || overwrite : owner === undefined && !isThere(name))
    }
    let n = 0
    while (before === undefined && !isFree(nth(wanted, fileId, n), n)) n += 1
    const chosen = before?.name ?? nth(wanted, fileId, n)
    taken.add(folded(chosen))
    return chosen
  }
}

/** What commands have downloaded into a directory. It is kept beside what is unfinished, and not in the directory. */
export interface DownloadIndex {
  readonly known: ReadonlyMap<string, Entry>
  /** Remembers a file that was saved under this name. If that fails, it is only not known to be there. */
  readonly add: (entry: Pick<Entry, "fileId" | "name" | "wanted">) => Effect.Effect<void>
  /** Whether this file is there, as it was saved. */
  readonly has: (name: string, fileId: string, size: number | undefined) => Effect.Effect<boolean>
}

const folder = "downloaded"

export const open = (
  service: string,
  directory: string
): Effect.Effect<DownloadIndex, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const real = yield* Effect.orElseSucceed(fs.realPath(directory), () => directory)
    const found = yield* DiskLedger.privateDirectory
    const safe = Option.isSome(found) && (yield* Effect.isSuccess(found.value.checked)) ? found : Option.none()
    const file = `${folder}/${createHash("sha256").update(`${service}\0${real}`).digest("hex").slice(0, 32)}.jsonl`
    const lines = Option.map(safe, (safe) => JsonLines.make(fs, safe, file))
    const known = new Map<string, Entry>()
    const read = Option.match(lines, {
      onNone: () => Effect.succeed([]),
      onSome: ({ more }) => Effect.orElseSucceed(Effect.map(more, ({ lines }) => lines), () => [])
    })
    for (const line of yield* read) Option.map(decodeLine(line), (entry) => known.set(entry.name, entry))

    const standing = (name: string) =>
      Effect.map(fs.stat(join(directory, name)), ({ mtime, size, type }) => ({
        type,
        size: Number(size),
        modified: Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
      }))

    return {
      known,
      add: (one) =>
        Effect.gen(function*() {
          const { modified, size } = yield* standing(one.name)
          const entry = { ...one, size, modified }
          known.set(entry.name, entry)
          if (Option.isNone(safe) || Option.isNone(lines)) return
          yield* safe.value.makeDirectory(folder)
          yield* lines.value.add(yield* encodeLine(entry))
        }).pipe(Effect.ignore),
      has: (name, fileId, size) =>
        Effect.map(Effect.option(standing(name)), (now) => {
          const entry = known.get(name)
          return entry !== undefined && entry.fileId === fileId && (size === undefined || size === entry.size) &&
            Option.exists(
              now,
              (one) => one.type === "File" && one.size === entry.size && one.modified === entry.modified
            )
        })
    }
  })
