import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import { isThisMachine } from "@stevedore/core/ServiceConfig"
import * as HttpSource from "@stevedore/node/HttpSource"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as FilesFrom from "../files/filesFrom.js"
import * as UploadPaths from "../files/paths.js"
import { readFile, warnOfOthers } from "../options/inputFile.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import * as Choosing from "./choosing.js"
import type { Options } from "./options.js"
import { problemOfType } from "./options.js"
import * as UrlSource from "./urlSource.js"

/** What says which files to upload. */
export type GivenFiles =
  & Choosing.Choice
  & Pick<Options, "paths" | "filesFrom" | "nul" | "retryFailed" | "followLinks" | "into">

const columns = ["path", "url", "file"]

const rowsOf = (file: Option.Option<string>, nul: boolean) =>
  Option.match(file, {
    onNone: () => Effect.succeed([]),
    onSome: (file) => FilesFrom.read(file, { input: "--files-from", nul, first: columns })
  })

const isToRetry = ({ status }: FilesFrom.Row): boolean =>
  Option.exists(status, (one) => one === "failed" || one === FilesFrom.notTried)

// Whatever proves that there is nothing to do proves first what it is
const retried = (file: Option.Option<string>) =>
  Effect.gen(function*() {
    if (Option.isNone(file)) return []
    const input = "--retry-failed"
    const { isComplete, rows } = yield* FilesFrom.readReport(file.value, { input, nul: false, first: columns })
    if (rows.some(({ status }) => Option.isNone(status)) || (rows.length === 0 && !isComplete)) {
      return yield* invalid(input, `${file.value} is no report of an upload: give the file that --report wrote`)
    }
    if (!isComplete) {
      return yield* invalid(
        input,
        `${file.value} does not name every file of the command that wrote it, because it was cut: run that command again`
      )
    }
    // until a command ends, what became of a file is a later row than that it was not tried
    return [...new Map(rows.map((row) => [row.what, row])).values()].filter(isToRetry)
  })

const isCutShort = ({ what }: FilesFrom.Row): boolean =>
  UrlSource.isUrl(what) && /^\?[\da-f]{12}$/.test(new URL(what).search)

const checkNames = (names: ReadonlyArray<string>): Effect.Effect<void, InvalidInput> =>
  Effect.forEach(
    names,
    (name) =>
      Effect.transposeMapOption(UrlSource.problemOf(name), (problem) => invalid(name.replace(/[?#][^]*/, ""), problem)),
    { discard: true }
  )

const checkRows = (rows: ReadonlyArray<FilesFrom.Row>): Effect.Effect<void, InvalidInput> => {
  const texts = new Map(rows.toReversed().map((row) => [row.what, JSON.stringify(row)]))
  const other = rows.find((row) => texts.get(row.what) !== JSON.stringify(row))
  return other === undefined
    ? Effect.void
    : invalid("--files-from", `${shownOf(other)} is in two rows that say different things: leave one of them out`)
}

/** What is wrong with what rows say about their files, before any is read. */
const checkColumns = (rows: ReadonlyArray<FilesFrom.Row>, into: Option.Option<string>) =>
  Effect.gen(function*() {
    // of an entry, every column is a field
    const [name, meant] = Option.isSome(into) ? [] : Option.getOrElse(Arr.findFirst(rows, FilesFrom.misspelt), () => [])
    if (name !== undefined) {
      return yield* invalid("--files-from", `no such column: ${JSON.stringify(name)}: did you mean ${meant}?`)
    }
    const [wrong] = rows.flatMap((row) =>
      Option.toArray(Option.map(Option.flatMap(row.mediaType, problemOfType), (problem) => ({ row, problem })))
    )
    if (wrong !== undefined) {
      return yield* invalid("--files-from", `the media type of ${shownOf(wrong.row)}: ${wrong.problem}`)
    }
  })

const shownOf = ({ what }: FilesFrom.Row): string => UrlSource.isUrl(what) ? HttpSource.shown(what) : what

// Of two URLs that only what signs them tells apart, nobody knows whether they are of one file
const onTheWeb = (rows: ReadonlyArray<FilesFrom.Row>): ReadonlyArray<UploadPaths.FileToUpload> => {
  const urls = new Map<string, Set<string>>()
  for (const row of rows) {
    const { href } = new URL(row.what)
    urls.set(shownOf(row), (urls.get(shownOf(row)) ?? new Set()).add(href.replace(/#.*$/, "")))
  }
  return rows.map((row) =>
    UploadPaths.onTheWeb(
      row,
      (urls.get(shownOf(row))?.size ?? 0) > 1 ? HttpSource.shownWhole(row.what) : shownOf(row)
    )
  )
}

const checkUrls = (rows: ReadonlyArray<FilesFrom.Row>): Effect.Effect<void, InvalidInput> => {
  const withUser = rows.map(({ what }) => new URL(what)).find(({ password, username }) => username + password !== "")
  return withUser === undefined
    ? Effect.void
    : invalid(
      HttpSource.shown(withUser.href),
      "has a user in it: give a header Authorization in the file of --source-headers instead"
    )
}

/** What is sent with the rows that are URLs. Headers are secrets of one server, so the rows must all be of one. */
export const sourceHeaders = (
  file: Option.Option<string>,
  files: ReadonlyArray<UploadPaths.FileToUpload>,
  allowInsecureHttp: boolean
): Effect.Effect<HttpSource.WebFile["headers"], InvalidInput, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    if (Option.isNone(file)) return Redacted.make({})
    const wrong = (problem: string) => invalid("--source-headers", problem)
    const headers = UrlSource.headersOf(yield* readFile("--source-headers", file.value))
    if (Option.isNone(headers)) return yield* wrong(`${file.value}: expected lines such as Authorization: Bearer ...`)
    yield* warnOfOthers(file.value)
    const origins = Arr.dedupe(
      files.flatMap(({ url }) => Option.isSome(url) ? [new URL(Redacted.value(url.value)).origin] : [])
    )
    if (origins.length > 1) {
      return yield* wrong(
        `the rows are of ${origins.length} servers, and each would get the headers: upload those of one at a time`
      )
    }
    const clear = origins.find((origin) => origin.startsWith("http:") && !isThisMachine(new URL(origin).hostname))
    return clear !== undefined && !allowInsecureHttp
      ? yield* wrong(`${clear} is not encrypted, and would show the headers: --allow-insecure-http allows it`)
      : headers.value
  })

/** The files to upload. */
export const select = (
  given: GivenFiles
): Effect.Effect<Choosing.Chosen, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const { filesFrom, followLinks, nul, paths, retryFailed } = given
    if (paths.length === 0 && Option.isNone(filesFrom) && Option.isNone(retryFailed)) {
      return yield* invalid(
        "PATH",
        "nothing to upload is named: give a file or a directory, or a list with --files-from"
      )
    }
    const rows = yield* rowsOf(filesFrom, nul)
    const failed = yield* retried(retryFailed)
    // what is named beside a report says where its files are, and how they are described
    const isAlone = paths.length === 0 && rows.length === 0
    const all = isAlone ? failed : rows
    if (isAlone && failed.some(isCutShort)) {
      return yield* invalid(
        "--retry-failed",
        "it has rows that are URLs without their query: give --files-from beside it"
      )
    }
    yield* checkNames([...paths, ...all.map(({ what }) => what)])
    yield* checkRows(all)
    yield* checkColumns(all, given.into)
    const url = paths.find(UrlSource.isUrl)
    if (url !== undefined) {
      return yield* invalid(
        HttpSource.shown(url),
        "a URL is not an argument, because the process list shows arguments: write it into a row of --files-from"
      )
    }
    const [local, web] = Arr.partition(all, ({ what }) => UrlSource.isUrl(what))
    yield* checkUrls(web)
    const found = yield* UploadPaths.expand([...paths, ...local.map(({ what }) => what)], {
      followLinks,
      rows: new Map(local.map((row) => [row.what, row])),
      web: onTheWeb(web)
    })
    const chosen = yield* Choosing.choose(found, given)
    if (isAlone || Option.isNone(retryFailed)) return chosen
    const again = new Set(failed.map(({ what }) => what))
    const files = chosen.files.filter(({ path }) => again.has(path))
    return again.size > 0 && files.length === 0
      ? yield* invalid(
        "--retry-failed",
        `none of its ${again.size} files to upload again is among what is named: leave the names out, or give the same`
      )
      : { ...chosen, files }
  })
