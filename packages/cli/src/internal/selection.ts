import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import { isThisMachine } from "@stevedore/core/ServiceConfig"
import * as HttpSource from "@stevedore/node/HttpSource"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Choosing from "../Choosing.js"
import * as FilesFrom from "../FilesFrom.js"
import { InvalidInput } from "../InvalidInput.js"
import * as UploadPaths from "../UploadPaths.js"
import * as UrlSource from "../UrlSource.js"
import { readFile, warnOfOthers } from "./inputFile.js"

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

const checkUrls = (rows: ReadonlyArray<FilesFrom.Row>): Effect.Effect<void, InvalidInput> => {
  const withUser = rows.map(({ what }) => new URL(what)).find(({ password, username }) => username + password !== "")
  return withUser === undefined
    ? Effect.void
    : Effect.fail(
      new InvalidInput({
        input: HttpSource.shown(withUser.href),
        problem: "has a user in it: give a header Authorization in the file of --source-headers instead"
      })
    )
}

/**
 * What is sent with the rows that are URLs. Headers are secrets of one server, so the rows must all be of one.
 *
 * @internal
 */
export const sourceHeaders = (
  file: Option.Option<string>,
  files: ReadonlyArray<UploadPaths.FileToUpload>,
  allowInsecureHttp: boolean
): Effect.Effect<HttpSource.WebFile["headers"], InvalidInput, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    if (Option.isNone(file)) return Redacted.make({})
    const invalid = (problem: string) => new InvalidInput({ input: "--source-headers", problem })
    const headers = UrlSource.headersOf(yield* readFile("--source-headers", file.value))
    if (Option.isNone(headers)) return yield* invalid(`${file.value}: expected lines such as Authorization: Bearer ...`)
    yield* warnOfOthers(file.value)
    const origins = Arr.dedupe(
      files.flatMap(({ url }) => Option.isSome(url) ? [new URL(Redacted.value(url.value)).origin] : [])
    )
    if (origins.length > 1) {
      return yield* invalid(
        `the rows are of ${origins.length} servers, and each would get the headers: upload those of one at a time`
      )
    }
    const clear = origins.find((origin) => origin.startsWith("http:") && !isThisMachine(new URL(origin).hostname))
    return clear !== undefined && !allowInsecureHttp
      ? yield* invalid(`${clear} is not encrypted, and would show the headers: --allow-insecure-http allows it`)
      : headers.value
  })

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
    const url = paths.find(UrlSource.isUrl)
    if (url !== undefined) {
      return yield* new InvalidInput({
        input: HttpSource.shown(url),
        problem:
          "a URL is not an argument, because the process list shows arguments: write it into a row of --files-from"
      })
    }
    const [local, web] = Arr.partition(all, ({ what }) => UrlSource.isUrl(what))
    yield* checkUrls(web)
    const found = yield* UploadPaths.expand([...paths, ...local.map(({ what }) => what)], {
      followLinks,
      rows: new Map(local.map((row) => [row.what, row])),
      web: web.map((row) => UploadPaths.onTheWeb(row, HttpSource.shown(row.what)))
    })
    const chosen = yield* Choosing.choose(found, given)
    if (isAlone || Option.isNone(retryFailed)) return chosen
    const again = new Set(failed.map(({ what }) => what))
    return { ...chosen, files: chosen.files.filter(({ path }) => again.has(path)) }
  })
