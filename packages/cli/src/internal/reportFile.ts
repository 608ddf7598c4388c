import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { InvalidInput } from "../InvalidInput.js"
import type { FileToUpload } from "../UploadPaths.js"
import { messageOf } from "./message.js"
import type { Outcome } from "./outcome.js"
import { pathOf } from "./outcome.js"
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
  "error",
  "message"
] as const

type Row = Partial<Record<typeof columns[number], string | number>>

// What the list of the files said, so that the report can take its place
const described = ({ row }: FileToUpload): Row => ({
  ...Option.match(Option.flatMap(row, ({ name }) => name), { onNone: () => ({}), onSome: (name) => ({ name }) }),
  ...Option.match(Option.flatMap(row, ({ mediaType }) => mediaType), {
    onNone: () => ({}),
    onSome: (media_type) => ({ media_type })
  })
})

const rowOf = (outcome: Outcome): Row => {
  const path = pathOf(outcome)
  switch (outcome._tag) {
    case "Uploaded": {
      const { file, report, sent } = outcome
      return {
        path,
        status: "uploaded",
        file_id: report.file.id,
        ...described(file),
        bytes: report.bytes,
        bytes_sent: sent,
        seconds: report.seconds,
        ...(report.checksum === null ? {} : { checksum: `${report.checksum.algorithm}:${report.checksum.value}` })
      }
    }
    case "Skipped":
      return {
        path,
        status: "skipped",
        reason: outcome.reason,
        ...Option.match(outcome.fileId, { onNone: () => ({}), onSome: (file_id) => ({ file_id }) })
      }
    case "Failed":
      return {
        path,
        status: "failed",
        ...described(outcome.file),
        error: outcome.error._tag,
        message: messageOf(outcome.error)
      }
  }
}

/**
 * Writes a row for each file of a command as soon as it has ended: JSON lines, or a table if the file is named `.csv`.
 *
 * @internal
 */
export type ReportFile = (outcome: Outcome) => Effect.Effect<void>

/** @internal */
export const make = (
  given: Option.Option<string>
): Effect.Effect<ReportFile, InvalidInput, FileSystem.FileSystem | Scope.Scope> =>
  Option.match(given, {
    onNone: () => Effect.succeed(() => Effect.void),
    onSome: (path) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const file = yield* Effect.mapError(
          fs.open(path, { flag: "w" }),
          (error) => new InvalidInput({ input: "--report", problem: `cannot write ${path}: ${error.message}` })
        )
        const isTable = /\.csv$/i.test(path)
        const encoder = new TextEncoder()
        let warned = false
        const write = (line: string) =>
          Effect.catchAll(file.writeAll(encoder.encode(`${line}\n`)), (error) =>
            Effect.suspend(() => {
              if (warned) return Effect.void
              warned = true
              return Effect.logWarning(`The report is incomplete: ${error.message}`)
            }))
        const turn = yield* Effect.makeSemaphore(1)
        if (isTable) yield* write(SeparatedValues.line(columns))
        return (outcome) => {
          const row = rowOf(outcome)
          return turn.withPermits(1)(write(
            isTable ? SeparatedValues.line(columns.map((name) => String(row[name] ?? ""))) : JSON.stringify(row)
          ))
        }
      })
  })
