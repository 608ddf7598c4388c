/** `stevedore uploaded`: what was uploaded from this machine, as far as it is remembered. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Measure from "@stevedore/core/parts/measure"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { resolve, sep } from "node:path"
import * as UploadPaths from "../files/paths.js"
import { invalid } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import * as PlatformWords from "../print/platformWords.js"
import type { Uploaded, UploadedFile } from "../print/schemas.js"
import * as Table from "../print/table.js"
import * as Manifest from "./manifest.js"
import type * as Given from "./options.js"

// A file that is gone has no real path any more, but is remembered by it
const below = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const real = yield* Effect.orElseSucceed(
      Effect.flatMap(UploadPaths.asOnDisk(path), fs.realPath),
      () => resolve(path)
    )
    const plain = (text: string): string => text.normalize("NFC")
    const names = [plain(real), plain(path)]
    const directory = plain(real.endsWith(sep) ? real : `${real}${sep}`)
    return (file: UploadedFile): boolean =>
      names.includes(plain(file.path)) || plain(file.path).startsWith(directory) || file.fileId === path
  })

/** A remembered file as columns: id, path, size, and when it was uploaded. */
const row = ({ fileId, path, size, uploadedAt }: UploadedFile): ReadonlyArray<string> => [
  fileId,
  path,
  Measure.bytes(size),
  uploadedAt
]

const columns: ReadonlyArray<Table.Column> = [
  { header: "ID", width: 22 },
  { header: "PATH", width: undefined },
  { header: "SIZE", width: 9, spare: true },
  { header: "UPLOADED", width: 16, spare: true }
]

const all = Effect.mapError(
  Manifest.all,
  (error) => invalid("uploaded", `cannot read what was uploaded: ${PlatformWords.reasonOf(error)}`)
)

const list = ({ json, path }: Given.Finished) =>
  Effect.gen(function*() {
    const output = yield* Output
    const isWanted = Option.isSome(path) ? yield* below(path.value) : () => true
    const files = (yield* all).filter(isWanted)
    yield* json
      ? output.json(files.map((file) => ({ type: "uploaded", ...file } satisfies typeof Uploaded.Type)))
      : Table.print(columns, files.map(row))
    if (files.length === 0 && !json) yield* output.note("Nothing was uploaded from there")
  })

const forget = (path: string) =>
  Effect.gen(function*() {
    const output = yield* Output
    const files = (yield* all).filter(yield* below(path))
    if (files.length === 0) {
      return yield* invalid(
        "--forget",
        `nothing of ${JSON.stringify(path)} is remembered: run stevedore uploaded to list what is`
      )
    }
    yield* Manifest.forget(files)
    yield* output.note(
      `Forgot ${files.length} ${files.length === 1 ? "file" : "files"}: the next upload sends them again`
    )
  })

/** Lists what was uploaded, or forgets it. */
export const run = (options: Given.Finished) =>
  Effect.gen(function*() {
    if (Option.isSome(options.forget)) yield* forget(options.forget.value)
    else yield* list(options)
  })
