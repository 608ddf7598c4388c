import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("../../../docs/how-it-works/conformance.md", import.meta.url))

const open = "<!-- table: written by npm run conformance -- --write -->\n\n"
const close = "\n\n<!-- /table -->"

const split = () => {
  const text = readFileSync(file, "utf8")
  const from = text.indexOf(open) + open.length
  const to = text.indexOf(close)
  if (from < open.length || to < from) throw new Error(`${file} has no place for the table`)
  return { before: text.slice(0, from), table: text.slice(from, to), after: text.slice(to) }
}

/** The table that stands in the documentation. */
export const read = (): string => split().table

/** Puts a table into the documentation. */
export const write = (table: string): void => {
  const { after, before } = split()
  writeFileSync(file, `${before}${table}${after}`)
}
