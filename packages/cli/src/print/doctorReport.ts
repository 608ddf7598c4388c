/** What `stevedore doctor` finds: one line per check, and one at the end. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Schema from "effect/Schema"
import * as ExitCode from "./exitCode.js"
import * as Printable from "./printable.js"
import { CheckId, type CheckReport, type Diagnosis } from "./serviceSchemas.js"

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
      : `  session ${fileId}: never completed`
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
