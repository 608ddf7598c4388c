/**
 * The rows of a table with a header, as RFC 4180 describes it. The separator is the first comma, semicolon or tab of the
 * header: spreadsheets write any of them.
 *
 * @internal
 */
export const parse = (text: string): ReadonlyArray<Readonly<Record<string, string>>> => {
  const [header = [], ...rows] = cellsOf(text.replace(/^\ufeff/, ""))
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""])))
}

/** @internal */
export const separatorOf = (line: string): string => /[,;\t]/.exec(line)?.[0] ?? ","

const cellsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const separator = separatorOf(text.slice(0, text.search(/\r?\n|$/)))
  const rows: Array<Array<string>> = []
  let row: Array<string> = []
  // a quoted cell, in which a quote is doubled, or one without quotes; then what ends it
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, "gy")
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text)
    if (found === null) break
    const [, quoted, plain = "", end] = found
    row.push(quoted === undefined ? plain : quoted.replaceAll("\"\"", "\""))
    if (end === separator) {
      if (cell.lastIndex === text.length) row.push("")
      else continue
    }
    if (row.some((value) => value !== "")) rows.push(row)
    row = []
  }
  return rows
}

/**
 * A row as a line.
 *
 * @internal
 */
export const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell) => /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll("\"", "\"\"")}"` : cell).join(",")
