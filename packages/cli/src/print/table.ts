/**
 * Rows for people: on a terminal as columns below a header, none wider than the terminal; elsewhere separated by tabs, for
 * `cut` and `awk`.
 */
import * as Effect from "effect/Effect"
import { Output } from "./output.js"
import * as Printable from "./printable.js"

/** A column of a table. */
export interface Column {
  readonly header: string
  /** In characters; undefined for the one column that takes what is left. */
  readonly width: number | undefined
  /** Whether it is left out where the terminal is too narrow for all. Those that come last are left out first. */
  readonly spare?: boolean | undefined
}

const gap = 2

const narrowest = 10

const needed = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, { width = narrowest }) => sum + width + gap, -gap)

// What is copied from a column that is always shown must be whole, if there is room for it beside the others
const widened = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  terminal: number
): ReadonlyArray<Column> =>
  columns.map((column, at) =>
    column.width === undefined || column.spare === true ? column : {
      ...column,
      width: Math.min(
        Math.max(column.width, ...rows.map((row) => Printable.width(row[at] ?? ""))),
        Math.max(column.width, terminal - narrowest - gap)
      )
    }
  )

/** Which of the columns fit, by their place. */
const fitting = (columns: ReadonlyArray<Column>, terminal: number): ReadonlySet<number> => {
  const shown = new Set(columns.keys())
  for (const [index, { spare }] of [...columns.entries()].reverse()) {
    if (needed(columns.filter((_, at) => shown.has(at))) <= terminal) break
    if (spare === true) shown.delete(index)
  }
  return shown
}

// As people read a date: `2026-01-31 08:15`
const date = (text: string): string => text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1 $2")

/** Rows as lines of at most so many columns. A text that is too long for its column loses its middle. */
export const lines = (
  given: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  terminal: number
): ReadonlyArray<string> => {
  const columns = widened(given, rows, terminal)
  const shown = fitting(columns, terminal)
  const left = terminal - needed(columns.filter((_, at) => shown.has(at))) + narrowest
  return rows.map((row) =>
    columns.flatMap(({ width }, at) =>
      shown.has(at) ? [Printable.fitted(date(row[at] ?? ""), width ?? Math.max(narrowest, left))] : []
    ).join(" ".repeat(gap)).trimEnd()
  )
}

/**
 * Prints rows. The header is printed only on a terminal, and only if it is asked for: a list that is printed as it
 * arrives has it once.
 */
export const print = (
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  { header }: { readonly header: boolean } = { header: true }
) =>
  Effect.flatMap(Output, (output) => {
    if (!output.isTerminal) return output.lines(rows.map(Printable.columns))
    const all = header && rows.length > 0 ? [columns.map((column) => column.header), ...rows] : rows
    return output.lines(lines(columns, all, output.columns ?? 80))
  })
