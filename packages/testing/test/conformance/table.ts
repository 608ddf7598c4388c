import { Effect } from "effect"
import type { Observed } from "./perform.js"
import { attempt, differences, elementOf, expectedOfStore, unexplained } from "./perform.js"
import type { Expected, Row } from "./Row.js"
import { sections } from "./rows.js"
import { SandboxTarget, StoreTarget } from "./Target.js"

/** A row with what both storages answered. */
export interface Outcome {
  readonly section: string
  readonly row: Row
  readonly sandbox: Observed
  readonly store: Observed
  /** What no reason is given for. */
  readonly problems: ReadonlyArray<string>
}

/** Tries the whole table on both. */
export const outcomes: Effect.Effect<ReadonlyArray<Outcome>, never, SandboxTarget | StoreTarget> = Effect.gen(
  function*() {
    const sandboxTarget = yield* SandboxTarget
    const storeTarget = yield* StoreTarget
    const rows = sections.flatMap(({ rows, title }) => rows.map((row) => ({ section: title, row })))
    return yield* Effect.forEach(rows, ({ row, section }) =>
      Effect.gen(function*() {
        const sandbox = yield* attempt(sandboxTarget, row)
        const store = yield* attempt(storeTarget, row)
        const problems = [
          ...differences(row.expected, sandbox).map((problem) => `sandbox: ${problem}`),
          ...unexplained(row, store).map((problem) => `real store: ${problem}`)
        ]
        return { section, row, sandbox, store, problems }
      }))
  }
)

const listed = ({ code, status }: Expected): Observed => ({
  status,
  headers: {},
  body: code === undefined ? "" : `<Code>${code}</Code>`
})

/** The outcomes when both answer as the table says. */
export const expectedOutcomes: ReadonlyArray<Outcome> = sections.flatMap(({ rows, title }) =>
  rows.map((row) => ({
    section: title,
    row,
    sandbox: listed(row.expected),
    store: listed(expectedOfStore(row)),
    problems: []
  }))
)

const said = (answer: Observed): string => {
  const code = elementOf(answer, "Code")
  return code === undefined ? String(answer.status) : `${answer.status} ${code}`
}

const documented = ({ code, status }: Expected): string => code === undefined ? String(status) : `${status} ${code}`

const escape = (text: string): string => text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "&lt;")

const line = (cells: ReadonlyArray<string>): string => `| ${cells.map(escape).join(" | ")} |`

/** The table in Markdown: the same for the same answers. */
export const markdown = (all: ReadonlyArray<Outcome>): string => {
  const explained = all.filter(({ row }) => row.store !== undefined).length
  const tables = sections.map(({ title }) =>
    [
      `### ${title}`,
      "",
      line(["Request", "S3", "Sandbox", "Real store", "remark"]),
      "| --- | --- | --- | --- | --- |",
      ...all.filter(({ section }) => section === title).map(({ problems, row, sandbox, store }) =>
        line([
          row.title,
          documented(row.expected),
          said(sandbox),
          said(store),
          problems.length > 0 ? `DIFFERS: ${problems.join("; ")}` : row.store?.reason ?? ""
        ])
      )
    ].join("\n")
  )
  return [
    `${all.length} requests. The sandbox answers all of them as S3 documents it; the real store ${
      all.length - explained
    } of them, and ${explained} otherwise, for the reason that is given.`,
    ...tables
  ].join("\n\n")
}
