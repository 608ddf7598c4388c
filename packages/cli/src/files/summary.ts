/** What is said at the end of an upload command: how many files, how much was sent, and what failed, by reason. */
import * as Measure from "@stevedore/core/parts/measure"
import * as Duration from "effect/Duration"
import { messageOf } from "../print/message.js"
import * as Printable from "../print/printable.js"
import type * as UploadReports from "../print/uploadReports.js"
import type { Outcome } from "./outcome.js"
import type { SkipReason } from "./paths.js"

/** The files that failed for one reason. */
export interface Failures {
  /** The `_tag` of the error. */
  readonly tag: string
  /** The message of the first of them. */
  readonly message: string
  readonly paths: Array<string>
}

/** What is counted while a command runs. */
export interface Tally {
  uploaded: number
  /** In bytes, in this command. */
  sent: number
  resumed: number
  /** The bytes that storage had before this command. */
  resumedBytes: number
  readonly skipped: Map<SkipReason, Array<string>>
  readonly failures: Map<string, Failures>
  notTried: number
}

/** The tally of a command that has not uploaded anything yet. */
export const make = (): Tally => ({
  uploaded: 0,
  sent: 0,
  resumed: 0,
  resumedBytes: 0,
  skipped: new Map(),
  failures: new Map(),
  notTried: 0
})

// Two messages that differ only in a name, an id or a number give the same reason
const reasonOf = (tag: string, message: string): string =>
  `${tag} ${message.replace(/"(?:[^"\\]|\\.)*"|\b\w{22}\b|\b(?=\w*\d)\w{8,}\b|\d+(?:\.\d+)?/g, "#")}`

/** Counts the failure of a file by its reason. */
export const addFailure = (
  failures: Tally["failures"],
  path: string,
  error: { readonly _tag: string }
): void => {
  const message = messageOf(error)
  const reason = reasonOf(error._tag, message)
  const before = failures.get(reason)
  if (before === undefined) failures.set(reason, { tag: error._tag, message, paths: [path] })
  else before.paths.push(path)
}

/** Counts how a file ended. */
export const add = (tally: Tally, outcome: Outcome): void => {
  switch (outcome._tag) {
    case "Uploaded":
      tally.uploaded += 1
      tally.sent += outcome.sent
      if (outcome.resumed === 0) return
      tally.resumed += 1
      tally.resumedBytes += outcome.resumed
      return
    case "Skipped": {
      const before = tally.skipped.get(outcome.reason)
      if (before === undefined) tally.skipped.set(outcome.reason, [outcome.path])
      else before.push(outcome.path)
      return
    }
    case "Failed":
      return addFailure(tally.failures, outcome.file.path, outcome.error)
    case "NotTried":
      tally.notTried += 1
  }
}

/** How many files failed. */
export const failed = ({ failures }: Tally): number =>
  [...failures.values()].reduce((sum, { paths }) => sum + paths.length, 0)

/** How many files were skipped. */
export const skipped = ({ skipped }: Tally): number =>
  [...skipped.values()].reduce((sum, paths) => sum + paths.length, 0)

const counted = (count: number, what: string): string =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`

const reasons: Readonly<Record<SkipReason, (paths: ReadonlyArray<string>) => string>> = {
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

// What is already uploaded is what everybody expects, thousands of files each night
const namesOf = (reason: SkipReason, paths: ReadonlyArray<string>): string =>
  reason === "uploaded" ? "" : ` (${listed(paths, 5).join(", ")})`

const skippedLine = (tally: Tally): ReadonlyArray<string> => {
  const parts = [...tally.skipped].map(([reason, paths]) => `${reasons[reason](paths)}${namesOf(reason, paths)}`)
  return parts.length === 0 ? [] : [`Skipped ${parts.join(", ")}`]
}

const uploadedLine = (tally: Tally, took: Duration.Duration): ReadonlyArray<string> => {
  if (tally.uploaded === 0) return []
  const there = tally.resumed === 0
    ? ""
    : `; ${Measure.bytes(tally.resumedBytes)} of ${counted(tally.resumed, "file")} were there before`
  return [
    `Uploaded ${counted(tally.uploaded, "file")}: ${Measure.bytes(tally.sent)} sent in ${Measure.duration(took)}${
      Measure.pace(tally.sent, took)
    }${there}`
  ]
}

/** The summary: what was uploaded, and what was skipped. */
export const lines = (tally: Tally, took: Duration.Duration): ReadonlyArray<string> => [
  ...uploadedLine(tally, took),
  ...skippedLine(tally)
]

/** The failures again, each reason once, with the files. */
export const failureLines = ({ failures }: Pick<Tally, "failures">): ReadonlyArray<string> =>
  [...failures.values()].flatMap(({ message, paths, tag }) => {
    const [first = ""] = paths
    return paths.length === 1
      ? [`Failed: ${Printable.line(first)}: ${message}`]
      : [
        `Failed, ${counted(paths.length, "file")} (${tag}): ${message}`,
        ...listed(paths, 10).map((path) => `  ${path}`)
      ]
  })

/** The last line of `upload --json`. */
export const report = (tally: Tally, files: number, took: Duration.Duration): typeof UploadReports.Summary.Type => {
  const seconds = Math.round(Duration.toMillis(took)) / 1000
  return {
    type: "summary",
    files,
    uploaded: tally.uploaded,
    resumed: tally.resumed,
    skipped: Object.fromEntries([...tally.skipped].map(([reason, { length }]) => [reason, length])),
    failed: failed(tally),
    notTried: tally.notTried,
    bytesSent: tally.sent,
    bytesResumed: tally.resumedBytes,
    seconds,
    speed: seconds > 0 ? Math.round(tally.sent / seconds) : null,
    failures: [...tally.failures.values()].map(({ message, paths, tag }) => ({ _tag: tag, message, paths }))
  }
}
