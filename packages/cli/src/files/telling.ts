import * as Measure from "@stevedore/core/parts/measure"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { messageOf } from "../print/message.js"
import { Output, type OutputFailed } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import * as UploadReports from "../print/uploadReports.js"
import type { Outcome } from "./outcome.js"
import type { ReportFile } from "./reportFile.js"
import * as UploadSummary from "./summary.js"

/** What is told of the files of one command: of each when it ends, one line at most, and of all at the end. */
export interface Telling {
  /** `onTold` is called as soon as it counts. */
  readonly tell: (outcome: Outcome, onTold?: () => void) => Effect.Effect<void, OutputFailed, Output>
  readonly end: (files: number, took: Duration.Duration) => Effect.Effect<void, OutputFailed, Output>
  readonly tally: UploadSummary.Tally
}

interface Options {
  /** Whether there are several files: then each failure is told again at the end, with its reason. */
  readonly several: boolean
  readonly json: boolean
  readonly verbose: boolean
  readonly report: ReportFile
}

const inJson = (outcome: Outcome): unknown => {
  switch (outcome._tag) {
    case "Uploaded":
      return Reports.encodeCompleted(outcome.report)
    case "Skipped":
      return UploadReports.skipped(outcome.path, outcome.reason, outcome.fileId)
    case "Failed":
      return Reports.failed(outcome.file.path, outcome.error)
    case "NotTried":
      return UploadReports.notTried({ path: outcome.file.path })
  }
}

const words = (outcome: Outcome): string | undefined => {
  switch (outcome._tag) {
    case "Uploaded": {
      const { file, report, sent, took } = outcome
      return `Uploaded ${Printable.line(file.path)}: ${Measure.bytes(report.bytes)} in ${Measure.duration(took)}${
        Measure.pace(sent, took)
      }`
    }
    case "Skipped":
      return outcome.reason === "uploaded" ? `Skipped ${Printable.line(outcome.path)}: already uploaded` : undefined
    case "Failed":
    case "NotTried":
      return undefined
  }
}

// The id and the path of what is at the service. The thousands of files that were there before are no news.
const result = (outcome: Outcome, verbose: boolean): ReadonlyArray<ReadonlyArray<string>> =>
  outcome._tag === "Uploaded"
    ? [[outcome.report.file.id, outcome.file.path]]
    : outcome._tag === "Skipped" && verbose
    ? Option.toArray(Option.map(outcome.fileId, (id) => [id, outcome.path]))
    : []

export const resultColumns: ReadonlyArray<Table.Column> = [
  { header: "ID", width: 22 },
  { header: "PATH", width: undefined }
]

export const make = ({ json, report, several, verbose }: Options): Telling => {
  const tally = UploadSummary.make()
  const told = new Set<unknown>()
  let first: Outcome | undefined

  const tellFailed = ({ error, file }: Extract<Outcome, { _tag: "Failed" }>) =>
    Effect.gen(function*() {
      const output = yield* Output
      // an error that applies to all files is told with the first
      if (told.has(error)) return
      told.add(error)
      // whoever reads a terminal has the reason at the end
      const isTerminal = Option.isSome(yield* output.terminal)
      const why = several && isTerminal && !verbose ? error._tag : messageOf(error)
      yield* output.warn(`${Printable.line(file.path)}: ${why}`)
    })

  const tell: Telling["tell"] = (outcome, onTold) =>
    Effect.gen(function*() {
      const output = yield* Output
      const count = () => {
        first ??= outcome
        UploadSummary.add(tally, outcome)
        onTold?.()
      }
      yield* report(outcome)
      if (outcome._tag === "Failed") yield* tellFailed(outcome)
      // a line of a command that is stopped meanwhile is written and counted, or neither
      if (json) return yield* output.json([inJson(outcome)], count)
      count()
      yield* Table.print(resultColumns, result(outcome, verbose), { header: false })
      const more = words(outcome)
      if (verbose && more !== undefined) yield* output.note(more)
    })

  const end: Telling["end"] = (files, took) =>
    Effect.gen(function*() {
      const output = yield* Output
      if (files > 1) yield* Effect.forEach(UploadSummary.failureLines(tally), output.warn, { discard: true })
      if (json) return yield* output.json([UploadSummary.report(tally, files, took)])
      // one file needs no count
      const only = files === 1 && first !== undefined && !verbose ? words(first) : undefined
      const all = only === undefined ? UploadSummary.lines(tally, took) : [only]
      const lines = files === 0 ? ["Nothing to upload", ...all] : all
      yield* Effect.forEach(lines, output.note, { discard: true })
    })

  return { tell, end, tally }
}
