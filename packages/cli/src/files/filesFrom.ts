/** Reads which files to upload or download from a list: a path per line, or a row per file with more about it. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { readFile } from "../options/inputFile.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { nearest } from "../options/nearest.js"
import * as SeparatedValues from "./separatedValues.js"
import * as StandardInput from "./standardInput.js"

/** One entry of a list. */
export interface Row {
  /** A path or an `http(s)` URL; for downloads, the id of a file. */
  readonly what: string
  readonly name: Option.Option<string>
  readonly mediaType: Option.Option<string>
  /** What a report says of it, if the list is one. */
  readonly status: Option.Option<string>
  /** Everything else that the row says, as text. */
  readonly fields: Readonly<{ [name: string]: string }>
}

const plain = (what: string): Row => ({
  what,
  name: Option.none(),
  mediaType: Option.none(),
  status: Option.none(),
  fields: {}
})

/** The status in a report of a file that was chosen, and not tried, or not to its end. */
export const notTried = "not-tried"

/** The status of the row, without a path, that says that every chosen file has a row. */
export const complete = "complete"

// How each column may be named, in lower case and without separators
type Column = "what" | "name" | "mediaType" | "status"

const columns: { readonly [Name in Column]: ReadonlyArray<string> } = {
  what: ["path", "url", "file", "fileid", "id"],
  name: ["name"],
  mediaType: ["mediatype", "contenttype", "type"],
  status: ["status"]
}

// What only a report says
const ofReports = ["reason", "bytes", "bytessent", "seconds", "checksum", "proof", "error", "message"]

/** The known name that a column of a row was probably meant to have. */
export const misspelt = ({ fields }: Row): Option.Option<readonly [name: string, meant: string]> =>
  Arr.findFirst(
    Object.keys(fields).filter((name) => !ofReports.includes(plainName(name))),
    (name) =>
      Option.map(
        nearest(plainName(name), Object.values(columns).flat()),
        (meant) => [name, meant === "mediatype" ? "media_type" : meant] as const
      )
  )

const plainName = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, "")

const columnOf = (name: string): Column | undefined =>
  Record.keys(columns).find((column) => columns[column].includes(plainName(name)))

const shown = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value) ?? ""

// Of several columns that say what it is, the path is before the id: a report has both.
const rowOf = (record: { readonly [name: string]: unknown }, first: ReadonlyArray<string>): Option.Option<Row> => {
  const entries = Object.entries(record).filter(([, value]) => value !== null && value !== "")
  const values = (column: Column) => entries.filter(([name]) => columnOf(name) === column)
  const rankOf = (name: string): number => {
    const rank = first.indexOf(plainName(name))
    return rank === -1 ? first.length : rank
  }
  const ranked = values("what").sort(([one], [other]) => rankOf(one) - rankOf(other))
  const text = (column: Column) => Option.fromNullable(values(column)[0]).pipe(Option.map(([, value]) => shown(value)))
  // the row of a report that says that each file of its command has one is about none of them
  const what = ranked[0]?.[1] ?? (Option.contains(text("status"), complete) ? "" : undefined)
  return Option.map(Option.fromNullable(what), (what) => ({
    what: shown(what),
    name: text("name"),
    mediaType: text("mediaType"),
    status: text("status"),
    fields: Object.fromEntries(
      entries.filter(([name]) => columnOf(name) === undefined).map(([name, value]) => [name, shown(value)])
    )
  }))
}

const decodeRecord = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)

type Form = "lines" | "json" | "table"

// A list of paths may begin with a path that looks like anything: only a first line that is nothing else is taken for more
const formOf = (file: string, text: string): Form => {
  const [first = ""] = text.trimStart().split(/\r\n|\r|\n/, 1)
  if (/\.(?:csv|tsv)$/i.test(file)) return "table"
  if (/\.(?:jsonl|ndjson)$/i.test(file) || Option.isSome(decodeRecord(first))) return "json"
  if (SeparatedValues.isDeclaration(first)) return "table"
  const cells = first.replace(/^\ufeff/, "").split(SeparatedValues.separatorOf(first))
  return cells.length > 1 && cells.some((cell) => columnOf(cell.replaceAll("\"", "")) === "what") ? "table" : "lines"
}

const problemAt = (input: string, file: string, line: number, problem: string) =>
  invalid(input, `${file}, line ${line}: ${problem}`)

const noRow = (input: string, file: string, line: number, first: ReadonlyArray<string>) =>
  problemAt(input, file, line, `expected a row with one of ${first.join(", ")}`)

const parse = (
  input: string,
  file: string,
  text: string,
  { first, nul }: Pick<Options, "first" | "nul">
): Effect.Effect<ReadonlyArray<Row>, InvalidInput> => {
  if (nul) return Effect.succeed(text.split("\0").filter((path) => path !== "").map(plain))
  const form = formOf(file, text)
  if (form === "table") {
    return SeparatedValues.parse(text).pipe(
      Effect.mapError(({ line, problem }) => problemAt(input, file, line, problem)),
      Effect.flatMap(
        Effect.forEach(({ cells, line }) => Effect.mapError(rowOf(cells, first), () => noRow(input, file, line, first)))
      )
    )
  }
  const lines = text.split(/\r?\n/).map((line, index) => ({ line, number: index + 1 })).filter(({ line }) =>
    line.trim() !== ""
  )
  return form === "lines"
    ? Effect.succeed(lines.map(({ line }) => plain(line)))
    : Effect.forEach(
      lines,
      ({ line, number }) =>
        Effect.mapError(
          Option.flatMap(decodeRecord(line), (record) => rowOf(record, first)),
          () => noRow(input, file, number, first)
        )
    )
}

/** How a list is read. */
export interface Options {
  /** The option that names the list. */
  readonly input: string
  /** Whether entries end with a NUL byte, as of `find -print0`, instead of a line break. */
  readonly nul: boolean
  /** Which columns say what it is, the first before the others. */
  readonly first: ReadonlyArray<string>
}

/**
 * The entries of a list; `-` is standard input. It has one path per line, or one JSON object per line, or it is a table
 * (CSV) whose first line names its columns: `path` or `url`, `name`, `media_type`, and any others.
 */
export const read = (file: string, options: Options) => Effect.map(readReport(file, options), ({ rows }) => rows)

/** The same, and whether it is a report in which each file of its command has a row. */
export const readReport = (file: string, { input, ...options }: Options) =>
  Effect.gen(function*() {
    const text = yield* file === "-" ? StandardInput.text(input) : readFile(input, file)
    const all = yield* parse(input, file, text, options)
    const rows = all.filter(({ what }) => what !== "")
    return { rows, isComplete: rows.length < all.length }
  })
