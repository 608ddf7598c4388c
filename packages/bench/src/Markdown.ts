/** Figures as text. */
import type { Summary } from "./Statistics.js"

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(head), row(head.map((_, index) => index === 0 ? "---" : "---:")), ...rows.map(row)].join("\n")

/** Two figures that mean something, whatever the magnitude. */
export const number = (value: number): string =>
  !Number.isFinite(value)
    ? "–"
    : Math.abs(value) >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toFixed(Math.abs(value) >= 10 ? 1 : 2)

/** The median, and between which the runs lay. */
export const spread = ({ least, median, most }: Summary): string =>
  least === most ? number(median) : `${number(median)} (${number(least)}–${number(most)})`

export const mebibytes = (bytes: number): string => number(bytes / 2 ** 20)

const units = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]] as const

/** `1 GiB`, `10 KiB`, `5 B`. */
export const size = (bytes: number): string => {
  const [unit, factor] = units.find(([, least]) => bytes >= least) ?? ["B", 1]
  return `${Number((bytes / factor).toFixed(1))} ${unit}`
}

/** A line chart that Markdown viewers draw: mermaid's. */
export const chart = (options: {
  readonly title: string
  readonly x: readonly [title: string, values: ReadonlyArray<string>]
  readonly y: readonly [title: string, values: ReadonlyArray<number>]
}): string =>
  [
    "```mermaid",
    "xychart-beta",
    `  title "${options.title}"`,
    `  x-axis "${options.x[0]}" [${options.x[1].map((text) => `"${text}"`).join(", ")}]`,
    `  y-axis "${options.y[0]}" 0 --> ${Math.max(...options.y[1]).toPrecision(2)}`,
    `  line [${options.y[1].map((value) => value.toPrecision(3)).join(", ")}]`,
    "```"
  ].join("\n")
