import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Choosing from "../Choosing.js"
import * as FilesFrom from "../FilesFrom.js"
import { InvalidInput } from "../InvalidInput.js"
import * as UploadPaths from "../UploadPaths.js"

/**
 * What says which files to upload.
 *
 * @internal
 */
export interface Given extends Choosing.Wishes {
  readonly paths: ReadonlyArray<string>
  readonly filesFrom: Option.Option<string>
  readonly nul: boolean
  /** A report of an earlier command, whose failed files are tried again. */
  readonly retryFailed: Option.Option<string>
  readonly followLinks: boolean
}

const columns = ["path", "url", "file"]

const rowsOf = (input: string, file: Option.Option<string>, nul: boolean) =>
  Option.match(file, {
    onNone: () => Effect.succeed([]),
    onSome: (file) => FilesFrom.read(file, { input, nul, first: columns })
  })

const isFailed = ({ status }: FilesFrom.Row): boolean => Option.contains(status, "failed")

/**
 * The files to upload.
 *
 * @internal
 */
export const select = (
  given: Given
): Effect.Effect<Choosing.Chosen, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const { filesFrom, followLinks, nul, paths, retryFailed } = given
    if (paths.length === 0 && Option.isNone(filesFrom) && Option.isNone(retryFailed)) {
      return yield* new InvalidInput({
        input: "PATH",
        problem: "nothing to upload is named: give a file or a directory, or a list with --files-from"
      })
    }
    const rows = yield* rowsOf("--files-from", filesFrom, nul)
    const failed = (yield* rowsOf("--retry-failed", retryFailed, false)).filter(isFailed)
    // what is named beside a report says where its files are, and how they are described
    const isAlone = paths.length === 0 && rows.length === 0
    const all = isAlone ? failed : rows
    const found = yield* UploadPaths.expand([...paths, ...all.map(({ what }) => what)], {
      followLinks,
      rows: new Map(all.map((row) => [row.what, row]))
    })
    const chosen = yield* Choosing.choose(found, given)
    if (isAlone || Option.isNone(retryFailed)) return chosen
    const again = new Set(failed.map(({ what }) => what))
    return { ...chosen, files: chosen.files.filter(({ path }) => again.has(path)) }
  })
