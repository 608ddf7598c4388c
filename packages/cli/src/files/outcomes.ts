/**
 * What became of what a command was given: each has one outcome, settled once. The summary, the report, the exit code and the
 * failure of the command are functions of it.
 */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ExitCode from "../print/exitCode.js"
import { messageOf } from "../print/message.js"
import type * as Reports from "../print/reports.js"
import type { Summary } from "../print/schemas.js"

/** How one file of a command ended. */
export type Outcome<
  Input,
  Report extends Reports.Done = Reports.Done,
  E extends Reports.KnownError = Reports.KnownError
> =
  | {
    readonly _tag: "Done"
    readonly input: Input
    readonly path: string
    readonly fileId: string
    readonly report: Report
    readonly took: Duration.Duration
    /** In bytes, in this command. */
    readonly moved: number
    /** The bytes that were there before this command. */
    readonly resumed: number
  }
  | {
    readonly _tag: "Skipped"
    /** Undefined for another entry of a directory, which was not chosen. */
    readonly input: Input | undefined
    readonly path: string
    readonly reason: Reports.SkipReason
    /** If it is at the service. */
    readonly fileId: Option.Option<string>
    readonly entryId?: string
  }
  | { readonly _tag: "Failed"; readonly input: Input; readonly error: E }
  /** The command ended before it, or in the middle of it. */
  | { readonly _tag: "NotTried"; readonly input: Input }

type Of<Tag extends Outcome<unknown>["_tag"], Input> = Extract<Outcome<Input>, { readonly _tag: Tag }>

/** How many of what a command was given stand how. Their sum is what it was given. */
export interface Counts {
  readonly done: number
  /** It was there before, which something proves. */
  readonly there: number
  readonly failed: number
  readonly notTried: number
}

/** The outcomes of one command. */
export interface Outcomes<Input> {
  readonly files: number
  /** How it is named. */
  readonly nameOf: (input: Input) => Reports.Name
  /** The first outcome counts: an input has no second one. */
  readonly settle: (outcome: Outcome<Input>) => void
  readonly counts: () => Counts
  /** In the order in which they were given, with those of other entries of directories behind. */
  readonly all: () => ReadonlyArray<Outcome<Input>>
}

export const make = <Input>(
  inputs: Iterable<Input>,
  nameOf: Outcomes<Input>["nameOf"]
): Outcomes<Input> => {
  const settled = new Map<Input, Outcome<Input>>(Array.from(inputs, (input) => [input, { _tag: "NotTried", input }]))
  const others: Array<Outcome<Input>> = []
  const counted = { Done: 0, Skipped: 0, Failed: 0 }
  return {
    files: settled.size,
    nameOf,
    settle: (outcome) => {
      if (outcome.input === undefined) others.push(outcome)
      else if (outcome._tag !== "NotTried" && settled.get(outcome.input)?._tag === "NotTried") {
        settled.set(outcome.input, outcome)
        counted[outcome._tag] += 1
      }
    },
    counts: () => ({
      done: counted.Done,
      there: counted.Skipped,
      failed: counted.Failed,
      notTried: settled.size - counted.Done - counted.Skipped - counted.Failed
    }),
    all: () => [...settled.values(), ...others]
  }
}

/** Those that ended so. */
export const those = <Tag extends Outcome<unknown>["_tag"], Input>(
  { all }: Pick<Outcomes<Input>, "all">,
  tag: Tag
): ReadonlyArray<Of<Tag, Input>> => all().filter((outcome): outcome is Of<Tag, Input> => outcome._tag === tag)

/** The failures of one reason, and what failed for it. */
export interface Failures {
  /** The `_tag` of the error. */
  readonly tag: string
  /** The message of the first of them. */
  readonly message: string
  readonly paths: ReadonlyArray<string>
}

/** The text of a name. */
export const textOf = (name: Reports.Name): string => "path" in name ? name.path : name.fileId

// Two messages that differ only in a name, an id or a number give the same reason
const reasonOf = ({ error }: { readonly error: Reports.KnownError }): string =>
  `${error._tag} ${messageOf(error).replace(/"(?:[^"\\]|\\.)*"|\b\w{22}\b|\b(?=\w*\d)\w{8,}\b|\d+(?:\.\d+)?/g, "#")}`

/** The failures by their reasons. */
export const failuresOf = <Input>(outcomes: Outcomes<Input>): ReadonlyArray<Failures> =>
  Object.values(Arr.groupBy(those(outcomes, "Failed"), reasonOf)).map((all) => ({
    tag: all[0].error._tag,
    message: messageOf(all[0].error),
    paths: all.map(({ input }) => textOf(outcomes.nameOf(input)))
  }))

/** What was skipped, by why. */
export const skippedBy = (
  skipped: ReadonlyArray<{ readonly path: string; readonly reason: Reports.SkipReason }>
): ReadonlyArray<readonly [reason: Reports.SkipReason, paths: ReadonlyArray<string>]> => {
  const paths = new Map<Reports.SkipReason, Array<string>>()
  for (const { path, reason } of skipped) paths.set(reason, [...paths.get(reason) ?? [], path])
  return [...paths]
}

/** The last line of `--json`. */
export const summaryOf = <Input>(
  outcomes: Outcomes<Input>,
  of: { readonly did: "uploaded" | "downloaded"; readonly bytes: "bytesSent" | "bytesReceived" },
  took: Duration.Duration
): typeof Summary.Type => {
  const done = those(outcomes, "Done")
  const { failed, notTried } = outcomes.counts()
  const moved = done.reduce((sum, one) => sum + one.moved, 0)
  const seconds = Math.round(Duration.toMillis(took)) / 1000
  return {
    type: "summary",
    files: outcomes.files,
    [of.did]: done.length,
    resumed: done.filter(({ resumed }) => resumed > 0).length,
    skipped: Object.fromEntries(skippedBy(those(outcomes, "Skipped")).map(([reason, { length }]) => [reason, length])),
    failed,
    notTried,
    [of.bytes]: moved,
    bytesResumed: done.reduce((sum, { resumed }) => sum + resumed, 0),
    seconds,
    speed: seconds > 0 ? Math.round(moved / seconds) : null,
    failures: failuresOf(outcomes).map(({ message, paths, tag }) => ({ _tag: tag, message, paths }))
  }
}

// What is wrong with a file before anything is asked: the same command would find it again
const ofInput = new Set(["EmptySource", "InvalidSource", "InvalidPartCount", "InvalidUploadOption", "SizeExceeded"])

const unreadable = new Set<unknown>(["NotFound", "Directory", "NotAFile", "PermissionDenied"])

const isOfInput = (error: Reports.KnownError & { readonly reason?: unknown }): boolean =>
  ofInput.has(error._tag) || (error._tag === "SourceUnreadable" && unreadable.has(error.reason))

/** Of failures of several kinds: what the same command again helps the least, and whoever can do something first. */
const gravest: ReadonlyArray<ErrorKind.ErrorKind> = ["configuration", "outcomeUnknown", "refused", "input", "tryLater"]

export const gravestOf = (kinds: ReadonlySet<ErrorKind.ErrorKind>): ErrorKind.ErrorKind =>
  gravest.find((kind) => kinds.has(kind)) ?? "tryLater"

/** Some of what a command was given has failed, or was not tried. Each failure was already printed. */
export class FilesFailed extends Schema.TaggedError<FilesFailed>("@stevedore/cli/FilesFailed")("FilesFailed", {
  /** That of the failures; of several, the first of `configuration`, `outcomeUnknown`, `refused`, `input`, `tryLater`. */
  kind: ErrorKind.ErrorKind,
  failed: Schema.Int,
  notTried: Schema.Int,
  /** As many as were given. */
  files: Schema.Int,
  exitCode: Schema.Int
}) {
  override get message(): string {
    const { failed, files, kind, notTried } = this
    const rest = notTried === 0
      ? ""
      : `, and ${notTried.toLocaleString("en")} ${notTried === 1 ? "was" : "were"} not tried`
    return `${failed} of ${files} ${files === 1 ? "file" : "files"} failed${rest}. ${
      kind === "tryLater" ? "Run" : "Fix the errors above and run"
    } the command again: it skips what is done.`
  }
}

/** What a command fails with in which these errors were met. */
export const failureOf = (
  errors: ReadonlyArray<Reports.KnownError>,
  { files, notTried }: { readonly files: number; readonly notTried: number }
): FilesFailed =>
  new FilesFailed({
    kind: gravestOf(new Set(errors.map(({ kind }) => kind))),
    failed: errors.length,
    notTried,
    files,
    exitCode: errors.some(({ _tag }) => _tag === "Unauthorized")
      ? ExitCode.unauthorized
      : errors.length > 0 && errors.every(isOfInput)
      ? ExitCode.usage
      : ExitCode.failed
  })
