/** The comparison as Markdown. */
import type { Fault } from "./Fault.js"
import { expectations, names } from "./Fault.js"
import { itemCount } from "./FaultyList.js"
import type { Observation } from "./Verdict.js"
import { verdict } from "./Verdict.js"

export interface Column {
  /** The package and its version. */
  readonly title: string
  readonly observations: ReadonlyArray<Observation>
}

const cell = (seen: Observation | undefined): string => {
  if (seen === undefined) return "–"
  const { isRight, text } = verdict(seen)
  const again = seen.again === undefined ? "" : ` and ${seen.again}`
  return `${isRight ? "✓ " : ""}${text}<br>${seen.items}${again} of ${itemCount}, ${seen.requests} requests`
}

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const rightOf = (column: Column): string => {
  const faults = column.observations.filter(({ fault }) => fault !== "none")
  return `${faults.filter((seen) => verdict(seen).isRight).length} of ${faults.length}`
}

export const render = (columns: ReadonlyArray<Column>): string => {
  const rows = names.map((fault: Fault) =>
    row([
      expectations[fault].title,
      ...columns.map(({ observations }) => cell(observations.find((seen) => seen.fault === fault)))
    ])
  )
  return [
    row(["fault", ...columns.map(({ title }) => title)]),
    row(["---", ...columns.map(() => "---")]),
    ...rows,
    row(["**right**", ...columns.map(rightOf)])
  ].join("\n")
}
