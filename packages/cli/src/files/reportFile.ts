import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { dirname, extname } from "node:path"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { messageOf } from "../print/message.js"
import * as PlatformWords from "../print/platformWords.js"
import { complete, notTried } from "./filesFrom.js"
import type { Outcome } from "./outcomes.js"
import type { FileToUpload } from "./paths.js"
import * as SeparatedValues from "./separatedValues.js"

const columns = [
  "path",
  "status",
  "reason",
  "file_id",
  "name",
  "media_type",
  "bytes",
  "bytes_sent",
  "seconds",
  "checksum",
  "proof",
  "error",
  "message"
] as const

type Row = { readonly [name in typeof columns[number]]?: string | number | undefined }

// What the list of the files said, so that the report can take its place
const described = ({ row }: FileToUpload): Row => ({
  name: Option.getOrUndefined(Option.flatMap(row, ({ name }) => name)),
  media_type: Option.getOrUndefined(Option.flatMap(row, ({ mediaType }) => mediaType))
})

type Ended = Outcome<FileToUpload>

const pathOf = (outcome: Ended): string => outcome._tag === "Skipped" ? outcome.path : outcome.input.path

const rowOf = (outcome: Ended): Row => {
  const path = pathOf(outcome)
  switch (outcome._tag) {
    case "Done": {
      const { fileId, input, moved, report: { bytes, seconds, ...report } } = outcome
      const checksum = "checksum" in report ? report.checksum : null
      return {
        path,
        status: "uploaded",
        file_id: fileId,
        ...described(input),
        bytes,
        bytes_sent: moved,
        seconds,
        checksum: checksum === null ? undefined : `${checksum.algorithm}:${checksum.value}`,
        proof: "proof" in report ? report.proof : undefined
      }
    }
    case "Skipped":
      return {
        path,
        status: "skipped",
        reason: outcome.reason,
        file_id: Option.getOrUndefined(outcome.fileId)
      }
    case "Failed":
      return {
        path,
        status: "failed",
        ...described(outcome.input),
        error: outcome.error._tag,
        message: messageOf(outcome.error)
      }
    case "NotTried":
      return { path, status: notTried, ...described(outcome.input) }
  }
}

/** Writes what became of a file. */
export type ReportFile = (outcome: Ended) => Effect.Effect<void>

const tables: ReadonlySet<string> = new Set([".csv"])

const lists: ReadonlySet<string> = new Set(["", ".json", ".jsonl", ".ndjson", ".log", ".txt"])

const wrong = (problem: string) => invalid("--report", problem)

// The end of a name without a letter is no type: it may be a date
const typeOf = (path: string): string => {
  const extension = extname(path).toLowerCase()
  return /[a-z]/.test(extension) ? extension : ""
}

/** Whether a report can be written there, before anything is. */
export const check = (path: string): Effect.Effect<void, InvalidInput, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const type = typeOf(path)
    if (!tables.has(type) && !lists.has(type)) {
      yield* wrong(`${path}: ${type} is not written: name it .csv for a table, or .jsonl for JSON lines`)
    }
    const fs = yield* FileSystem.FileSystem
    const unwritable = PlatformWords.describe("write", path)
    const there = yield* Effect.option(fs.stat(path))
    if (Option.exists(there, ({ type }) => type === "Directory")) {
      yield* wrong(`cannot write ${path}: it is a directory`)
    }
    const place = Option.isSome(there) ? path : dirname(path)
    yield* Effect.mapError(fs.access(place, { writable: true }), (error) => wrong(unwritable(error)))
  })

const isPlainFile = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const isLink = yield* Effect.isSuccess(fs.readLink(path))
    return !isLink && (yield* fs.stat(path)).type === "File"
  }).pipe(Effect.orElseSucceed(() => false))

const encoder = new TextEncoder()

/**
 * Writes a row for each file of a command: JSON lines, or a table if the file is named `.csv`. From the start each chosen
 * file has one that says that it was not tried, and further down one as soon as it has ended, so that a report also says
 * of every file what became of it if its command is killed. At the end it is replaced by one with one row for each.
 */
export const make = (
  given: Option.Option<string>,
  files: ReadonlyArray<FileToUpload>
): Effect.Effect<ReportFile, InvalidInput, FileSystem.FileSystem | Scope.Scope> =>
  Option.match(given, {
    onNone: () => Effect.succeed(() => Effect.void),
    onSome: (path) =>
      Effect.gen(function*() {
        yield* check(path)
        const fs = yield* FileSystem.FileSystem
        // closed before it is replaced, which Windows wants
        const opened = yield* Scope.make()
        const file = yield* Effect.mapError(
          Scope.extend(fs.open(path, { flag: "w" }), opened),
          (error) => wrong(PlatformWords.describe("write", path)(error))
        )
        const isTable = tables.has(typeOf(path))
        const lineOf = (row: Row): string =>
          `${isTable ? SeparatedValues.line(columns.map((name) => String(row[name] ?? ""))) : JSON.stringify(row)}\n`
        const header = isTable ? `${SeparatedValues.line(columns)}\n` : ""
        const mark = lineOf({ status: complete })
        // by the path, in the order in which they were chosen
        const rows = new Map(files.map((one) => [one.path, lineOf(rowOf({ _tag: "NotTried", input: one }))]))
        let warned = false
        const warn = (error: { readonly message: string }) =>
          Effect.suspend(() => {
            if (warned) return Effect.void
            warned = true
            return Effect.logWarning(`The report is incomplete: ${error.message}`)
          })
        const write = (text: string) => Effect.catchAll(file.writeAll(encoder.encode(text)), warn)
        const whole = () => `${header}${[...rows.values()].join("")}${mark}`
        // what cannot be read again, such as a pipe, gets each row once
        const isPlain = yield* isPlainFile(path)
        yield* write(isPlain ? whole() : header)
        const ended = new Set<string>()
        const replace = Effect.gen(function*() {
          const aside = `${path}.${process.pid}.part`
          const { mode } = yield* fs.stat(path)
          yield* fs.writeFile(aside, encoder.encode(whole()), { mode: mode & 0o777 }).pipe(
            Effect.zipRight(fs.rename(aside, path)),
            Effect.onError(() => Effect.ignore(fs.remove(aside, { force: true })))
          )
        }).pipe(Effect.catchAll(warn))
        const rest = Effect.suspend(() =>
          write(`${[...rows].flatMap(([path, line]) => ended.has(path) ? [] : [line]).join("")}${mark}`)
        )
        const close = Scope.close(opened, Exit.void)
        yield* Effect.addFinalizer(() => isPlain ? Effect.zipRight(close, replace) : Effect.zipRight(rest, close))
        const turn = yield* Effect.makeSemaphore(1)
        return (outcome) => {
          const line = lineOf(rowOf(outcome))
          rows.set(pathOf(outcome), line)
          ended.add(pathOf(outcome))
          return turn.withPermits(1)(write(line))
        }
      })
  })
