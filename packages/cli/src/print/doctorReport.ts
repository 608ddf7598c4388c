/** What `stevedore doctor` finds: one line per check, and one at the end. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import { checkIds } from "@stevedore/node/Diagnosis"
import * as Schema from "effect/Schema"
import * as ExitCode from "./exitCode.js"
import * as Printable from "./printable.js"

/** The names of the checks, in order. */
export const CheckId = Schema.Literal("configuration", ...checkIds).annotations({ identifier: "CheckId" })

export type CheckId = typeof CheckId.Type

/**
 * How a check ended. `warning`: it works, but may surprise later. `skipped`: it could not be tried, or was not
 * requested.
 */
export const CheckReport = Schema.Struct({
  type: Schema.Literal("check"),
  check: CheckId,
  title: Schema.String,
  outcome: Schema.Literal("passed", "warning", "failed", "skipped"),
  /** What was found. */
  found: Schema.String,
  /** What to do; empty if there is nothing to do. */
  remedy: Schema.String
}).annotations({ identifier: "CheckReport" })

export type CheckReport = typeof CheckReport.Type

/** The last line of `doctor --json`. */
export const Diagnosis = Schema.Struct({
  type: Schema.Literal("diagnosis"),
  passed: Schema.Int,
  warnings: Schema.Int,
  failed: Schema.Int,
  skipped: Schema.Int,
  /** What this run left behind at the service. */
  left: Schema.Array(Schema.Struct({
    fileId: Schema.String,
    /** `file` stays until it is deleted at the service; the service collects a `session` after about a day. */
    kind: Schema.Literal("file", "session"),
    bytes: Schema.Number
  }))
}).annotations({ identifier: "Diagnosis" })

export type Diagnosis = typeof Diagnosis.Type

/** What `doctor --write-profile` has found out, before the checks are run with it. */
export const ProfileReport = Schema.Struct({
  type: Schema.Literal("profile"),
  /** The fields of a profile file that differ from the profile that was given. */
  profile: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  /** What could not be found out: the field of the profile, and what belongs there. */
  questions: Schema.Array(Schema.String),
  /** What nothing that the service answers shows: the field of the profile, and what is assumed. */
  assumed: Schema.Array(Schema.String)
}).annotations({ identifier: "ProfileReport" })

export type ProfileReport = typeof ProfileReport.Type

/** A line of `doctor --json`. */
export const DoctorReport = Schema.Union(CheckReport, ProfileReport, Diagnosis).annotations({
  identifier: "DoctorReport"
})

/** Some checks failed. Each failure was already printed. */
export class ChecksFailed extends Schema.TaggedError<ChecksFailed>("@stevedore/cli/ChecksFailed")("ChecksFailed", {
  kind: ErrorKind.field("configuration"),
  failed: Schema.Array(CheckId),
  /** Whether the service rejects the token. */
  unauthorized: Schema.Boolean
}) {
  get exitCode(): number {
    if (this.failed.includes("configuration")) return ExitCode.usage
    return this.unauthorized ? ExitCode.unauthorized : ExitCode.failed
  }
  override get message(): string {
    return `${this.failed.length} ${this.failed.length === 1 ? "check" : "checks"} failed: ${
      this.failed.join(", ")
    }. Start with the first: it may cause the others.`
  }
}

const marks: Readonly<Record<CheckReport["outcome"], string>> = {
  passed: "ok  ",
  warning: "note",
  failed: "FAIL",
  skipped: "-   "
}

const titleWidth = 24

/** A check as lines: its outcome, its subject, what was found, and what to do. Wrapped to `columns` on a terminal. */
export const lines = (report: CheckReport, columns = Infinity): ReadonlyArray<string> => {
  const head = `${marks[report.outcome]}  ${report.title.padEnd(titleWidth)}`
  const isNarrow = columns < 72
  const indent = isNarrow ? 6 : head.length + 2
  const found = Printable.wrapped(report.found, columns - indent)
  const remedy = report.remedy === "" ? [] : Printable.wrapped(`-> ${report.remedy}`, columns - indent)
  const [first = "", ...rest] = isNarrow ? ["", ...found] : found
  return [`${head}  ${first}`.trimEnd(), ...[...rest, ...remedy].map((line) => `${" ".repeat(indent)}${line}`)]
}

/** What was left behind, as lines. */
export const leftBehind = (left: Diagnosis["left"]): ReadonlyArray<string> => [
  ...(left.length === 0 ? ["Nothing was left behind."] : ["Left at the service, whose API cannot delete:"]),
  ...left.map(({ bytes, fileId, kind }) =>
    kind === "file"
      ? `  file ${fileId}, ${bytes} bytes: delete it by hand`
      : `  session ${fileId}: never completed; the service removes it after about a day`
  )
]

/** The end as lines: the counts, and what was left behind. */
export const summary = ({ failed, left, passed, skipped, warnings }: Diagnosis): ReadonlyArray<string> => [
  [
    `${passed} passed`,
    ...(warnings > 0 ? [`${warnings} with a note`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : [])
  ].join(", "),
  ...leftBehind(left)
]
