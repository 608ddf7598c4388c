/** Tells what became of the files of a command: of each when it ends, one line at most, and of all at the end. */
import * as Measure from "@stevedore/core/parts/measure"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { messageOf } from "../print/message.js"
import { Output, type OutputFailed, unlessClosed } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as Reports from "../print/reports.js"
import type { Summary } from "../print/schemas.js"
import * as Table from "../print/table.js"
import * as Outcomes from "./outcomes.js"
import type { Outcome } from "./outcomes.js"

/** What is told of the files of one command. */
export interface Reporter<Input> {
  readonly tell: (outcome: Outcome<Input>) => Effect.Effect<void, OutputFailed, Output>
  /** Tells the rest at the end, and fails unless each is done or there. */
  readonly end: Effect.Effect<void, OutputFailed | Outcomes.FilesFailed, Output>
  /** Tells the rest of a command that is stopped. */
  readonly stopped: Effect.Effect<void, never, Output>
}

/** What a command does with its files. */
const moves = {
  upload: { did: "uploaded", bytes: "bytesSent", words: ["Uploaded", "sent", "Nothing to upload"] },
  download: { did: "downloaded", bytes: "bytesReceived", words: ["Downloaded", "received", "Nothing to download"] }
} as const

interface Options<Input> {
  readonly move: keyof typeof moves
  readonly json: boolean
  readonly verbose: boolean
  /** Writes what became of a file. */
  readonly report?: (outcome: Outcome<Input>) => Effect.Effect<void>
}

const counted = (count: number, what: string): string =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`

const reasons: Readonly<Record<Reports.SkipReason, (paths: ReadonlyArray<string>) => string>> = {
  uploaded: ({ length }) => `${length.toLocaleString("en")} already uploaded`,
  link: ({ length }) => counted(length, "link"),
  special: ({ length }) => `${length.toLocaleString("en")} not a file`,
  empty: ({ length }) => counted(length, "empty file"),
  there: ({ length }) => `${length.toLocaleString("en")} already there`
}

const listed = (paths: ReadonlyArray<string>, most: number): ReadonlyArray<string> => {
  const shown = paths.length > most ? paths.slice(0, most - 1) : paths
  const hidden = paths.length - shown.length
  return [...shown.map(Printable.line), ...(hidden === 0 ? [] : [`and ${hidden.toLocaleString("en")} more`])]
}

// What is already there is what everybody expects, thousands of files each night
const isNews = (reason: Reports.SkipReason): boolean => reason !== "uploaded" && reason !== "there"

/** What was skipped, in a line. */
export const skippedLine = (skipped: ReturnType<typeof Outcomes.skippedBy>): ReadonlyArray<string> => {
  const parts = skipped.map(([reason, paths]) =>
    `${reasons[reason](paths)}${isNews(reason) ? ` (${listed(paths, 5).join(", ")})` : ""}`
  )
  return parts.length === 0 ? [] : [`Skipped ${parts.join(", ")}`]
}

/** The failures, each reason once, with the files. */
export const failureLines = <Input>(outcomes: Outcomes.Outcomes<Input>): ReadonlyArray<string> =>
  Outcomes.failuresOf(outcomes).flatMap(({ message, paths, tag }) => {
    const [first = ""] = paths
    return paths.length === 1
      ? [`Failed: ${Printable.line(first)}: ${message}`]
      : [
        `Failed, ${counted(paths.length, "file")} (${tag}): ${message}`,
        ...listed(paths, 10).map((path) => `  ${path}`)
      ]
  })

/** The columns of what is at the service, or here. */
export const resultColumns: ReadonlyArray<Table.Column> = [
  { header: "ID", width: 22 },
  { header: "PATH", width: undefined }
]

export const make = <Input>(
  outcomes: Outcomes.Outcomes<Input>,
  { json, move, report = () => Effect.void, verbose }: Options<Input>
): Effect.Effect<Reporter<Input>> =>
  Effect.map(Clock.currentTimeMillis, (startedAt) => {
    const { files, nameOf } = outcomes
    const { words: [did, moved, nothing], ...of } = moves[move]
    const told = new Set<unknown>()

    const inJson = (outcome: Outcome<Input>): unknown => {
      switch (outcome._tag) {
        case "Done":
          return Reports.encodeDone(outcome.report)
        case "Skipped":
          return Reports.skipped(outcome.path, outcome.reason, outcome.fileId, outcome.entryId)
        case "Failed":
          return Reports.failed(nameOf(outcome.input), outcome.error)
        case "NotTried":
          return Reports.notTried(nameOf(outcome.input))
      }
    }

    const inWords = (outcome: Outcome<Input>): string | undefined => {
      if (outcome._tag === "Skipped" && outcome.reason === "uploaded") {
        return `Skipped ${Printable.line(outcome.path)}: already uploaded`
      }
      if (outcome._tag !== "Done") return undefined
      const { moved, path, report: { bytes }, took } = outcome
      return `${did} ${Printable.line(path)}: ${Measure.bytes(bytes)} in ${Measure.duration(took)}${
        Measure.pace(moved, took)
      }`
    }

    // The id and the path of what is at the service. The thousands of files that were there before are no news
    const result = (outcome: Outcome<Input>): ReadonlyArray<ReadonlyArray<string>> =>
      outcome._tag === "Done"
        ? [[outcome.fileId, outcome.path]]
        : outcome._tag === "Skipped" && verbose
        ? Option.toArray(Option.map(outcome.fileId, (id) => [id, outcome.path]))
        : []

    const tellFailed = ({ error, input }: Extract<Outcome<Input>, { _tag: "Failed" }>) =>
      Effect.gen(function*() {
        const output = yield* Output
        // an error that applies to all files is told with the first
        if (told.has(error)) return
        told.add(error)
        // of several, the reason is told at the end, once
        const why = files > 1 ? error._tag : messageOf(error)
        yield* output.warn(`${Printable.line(Outcomes.textOf(nameOf(input)))}: ${why}`)
      })

    const tell: Reporter<Input>["tell"] = (outcome) =>
      Effect.gen(function*() {
        const output = yield* Output
        const settle = () => outcomes.settle(outcome)
        yield* report(outcome)
        if (outcome._tag === "Failed") yield* tellFailed(outcome)
        // a line of a command that is stopped meanwhile is written and counted, or neither
        if (json) return yield* output.json([inJson(outcome)], settle)
        settle()
        yield* Table.print(resultColumns, result(outcome), { header: false })
        const more = inWords(outcome)
        if (verbose && more !== undefined) yield* output.note(more)
      })

    const inSum = (summary: typeof Summary.Type): ReadonlyArray<string> => {
      const [first] = outcomes.all()
      const only = files === 1 && !verbose && first !== undefined ? inWords(first) : undefined
      if (only !== undefined) return [only]
      const { bytesResumed, resumed, seconds, [of.bytes]: bytes = 0, [of.did]: done = 0 } = summary
      const took = Duration.seconds(seconds)
      const there = `; ${Measure.bytes(bytesResumed)} of ${counted(resumed, "file")} were there before`
      const pace = `${Measure.duration(took)}${Measure.pace(bytes, took)}`
      return [
        ...(files === 0 ? [nothing] : []),
        ...(done === 0 ? [] : [
          `${did} ${counted(done, "file")}: ${Measure.bytes(bytes)} ${moved} in ${pace}${resumed === 0 ? "" : there}`
        ]),
        ...skippedLine(Outcomes.skippedBy(Outcomes.those(outcomes, "Skipped")))
      ]
    }

    const rest = Effect.gen(function*() {
      const output = yield* Output
      yield* Effect.forEach(Outcomes.those(outcomes, "NotTried"), tell, { discard: true })
      const took = Duration.millis((yield* Clock.currentTimeMillis) - startedAt)
      const summary = Outcomes.summaryOf(outcomes, of, took)
      if (files > 1) yield* Effect.forEach(failureLines(outcomes), output.warn, { discard: true })
      if (json) return yield* output.json([summary])
      yield* Effect.forEach(inSum(summary), output.note, { discard: true })
    })

    return {
      tell: (outcome) => unlessClosed(tell(outcome)),
      end: Effect.gen(function*() {
        yield* unlessClosed(rest)
        const failed = Outcomes.those(outcomes, "Failed")
        const { notTried } = outcomes.counts()
        if (failed.length + notTried === 0) return
        return yield* Outcomes.failureOf(failed.map(({ error }) => error), { files, notTried })
      }),
      // in a fiber of its own, which does not wait long for whoever reads it: this one can do nothing any more that can be ended
      stopped: Effect.flatMap(
        Effect.forkDaemon(Effect.timeout(Effect.interruptible(rest), "2 seconds")),
        (fiber) => Effect.asVoid(Fiber.await(fiber))
      )
    }
  })
