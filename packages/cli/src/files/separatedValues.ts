import * as Arr from "effect/Array"
import * as Either from "effect/Either"

/** Where a table cannot be read, and why. */
export interface Unreadable {
  /** From 1. */
  readonly line: number
  readonly problem: string
}

/** A row of a table by the names of its header, and the line where it begins. */
export interface Record {
  readonly line: number
  readonly cells: Readonly<{ [name: string]: string }>
}

interface Row {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

export const separatorOf = (line: string): string => /[,;\t]/.exec(line)?.[0] ?? ","

// What spreadsheets write before the header to tell each other the separator
const declaration = /^sep=([,;\t])(?:\r?\n|$)/i

export const isDeclaration = (line: string): boolean => declaration.test(line)

const problemAt = (rest: string): string =>
  rest.startsWith("\r")
    ? "a carriage return that ends no line: save the table with the line ends of this system, or quote the cell"
    : /^"(?:[^"]|"")*$/.test(rest)
    ? "a quoted cell that does not end: the table is cut, or a quote in it is not doubled"
    : "text after a quoted cell: double a quote that is part of a cell"

const linesIn = (text: string): number => text.split(/\r\n|\r|\n/).length - 1

const rowsOf = (text: string, separator: string, first: number): Either.Either<ReadonlyArray<Row>, Unreadable> => {
  const rows: Array<Row> = []
  let cells: Array<string> = []
  let line = first
  let begun = first
  // a quoted cell, in which a quote is doubled, or one without quotes; then what ends it
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|((?!")[^${separator}\\r\\n]*))(${separator}|\\r?\\n|$)`, "gy")
  for (let at = 0; at < text.length; at = cell.lastIndex) {
    cell.lastIndex = at
    const found = cell.exec(text)
    if (found === null) {
      const rest = text.slice(at)
      const plain = rest.startsWith("\"") ? "" : /^[^\r]*/.exec(rest.split(separator, 1).join(""))?.[0] ?? ""
      return Either.left({ line, problem: problemAt(rest.slice(plain.length)) })
    }
    const [all, quoted, plain = "", end] = found
    cells.push(quoted === undefined ? plain : quoted.replaceAll("\"\"", "\""))
    line += linesIn(all)
    if (end === separator && cell.lastIndex < text.length) continue
    if (end === separator) cells.push("")
    if (cells.some((value) => value !== "")) rows.push({ line: begun, cells })
    cells = []
    begun = line
  }
  return Either.right(rows)
}

const duplicated = (names: ReadonlyArray<string>): string | undefined =>
  names.find((name, index) => name !== "" && names.indexOf(name) !== index)

/**
 * The rows of a table with a header, as RFC 4180 describes it. The separator is the one that a first line `sep=;` names,
 * or else the first comma, semicolon or tab of the header: spreadsheets write any of them. Whatever would make it lose a
 * row or a cell is an error.
 */
export const parse = (text: string): Either.Either<ReadonlyArray<Record>, Unreadable> => {
  const whole = text.replace(/^\ufeff/, "")
  const declared = declaration.exec(whole)
  const table = whole.slice(declared?.[0].length ?? 0)
  const separator = declared?.[1] ?? separatorOf(table.slice(0, table.search(/\r?\n|$/)))
  return Either.flatMap(rowsOf(table, separator, declared === null ? 1 : 2), ([header, ...rows]) => {
    if (header === undefined) return Either.right([])
    const { cells: names, line } = header
    const twice = duplicated(names)
    if (twice !== undefined) {
      return Either.left({ line, problem: `the header has the column ${JSON.stringify(twice)} twice` })
    }
    const longer = rows.find(({ cells }) => cells.slice(names.length).some((cell) => cell !== ""))
    return longer === undefined
      ? Either.right(rows.map(({ cells, line }) => ({
        line,
        cells: Object.fromEntries(Arr.map(names, (name, index) => [name, cells[index] ?? ""]))
      })))
      : Either.left({
        line: longer.line,
        problem: `${longer.cells.length} cells, but the header has ${names.length}: quote a cell that has a ${
          separator === "\t" ? "tab" : JSON.stringify(separator)
        } in it`
      })
  })
}

/** A row as a line. */
export const line = (cells: ReadonlyArray<string>): string =>
  cells.map((cell) => /[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll("\"", "\"\"")}"` : cell).join(",")
