/** The help as it is printed: examples first, and no line wider than the terminal. */
import * as Arr from "effect/Array"
import * as HelpPage from "./HelpPage.js"
import { summaries } from "./internal/commands.js"
import * as RootHelp from "./internal/rootHelp.js"
import * as Printable from "./Printable.js"

/** The longest line of the help, in columns: longer ones are hard to read. */
export const widest = 100

const indented = (lines: ReadonlyArray<string>, columns: number): ReadonlyArray<string> =>
  lines.map((line) => line === "" ? "" : `${" ".repeat(columns)}${line}`)

const title = (text: string): string => `\u001b[1m${text}\u001b[0m`

const section = (name: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ["", title(name), ...lines]

// A shell's words: what is in quotes stays together
const shellWords = (line: string): ReadonlyArray<string> => line.match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? []

// Lines that can be copied into a shell: each but the last ends with a backslash
const command = (line: string, columns: number): ReadonlyArray<string> => {
  const [first = "", ...more] = Printable.joined(shellWords(line), columns - 8)
  const lines = [`$ ${first}`, ...more.map((words) => `    ${words}`)]
  return indented(lines.map((words, index) => index < more.length ? `${words} \\` : words), 2)
}

type Definition = readonly [name: string, description: string]

const stackedBelow = 60

// Names beside their descriptions, or above them where there is no room
const definitions = (all: ReadonlyArray<Definition>, columns: number): ReadonlyArray<string> => {
  const longest = Math.max(0, ...all.map(([name]) => name.length))
  const width = columns < stackedBelow ? 0 : Math.min(26, longest)
  return all.flatMap(([name, description]) => {
    const start = width === 0 ? 6 : width + 4
    const [first = "", ...more] = Printable.wrapped(description, columns - start)
    return name.length > width
      ? [...indented(Printable.wrapped(name, columns - 2), 2), ...indented([first, ...more], start)]
      : [`  ${name.padEnd(width)}  ${first}`.trimEnd(), ...indented(more, start)]
  })
}

const entries = (
  all: ReadonlyArray<HelpPage.Entry>,
  named: (entry: HelpPage.Entry) => string,
  columns: number
): ReadonlyArray<string> => definitions(all.map((entry) => [named(entry), entry.description]), columns)

const prose = (paragraphs: ReadonlyArray<string>, columns: number): ReadonlyArray<string> =>
  paragraphs.flatMap((text) => Printable.wrapped(text, columns))

const text = (lines: ReadonlyArray<string>): string => lines.join("\n")

/** The help of one command. Headings are bold, by codes that a console without colours removes. */
export const ofCommand = (page: HelpPage.HelpPage, terminal: number): string => {
  const columns = Math.min(terminal, widest)
  const [everywhere, own] = Arr.partition(page.options, (option) => !RootHelp.isShared(option))
  return text([
    ...Printable.wrapped(HelpPage.usage(page), columns).map(title),
    "",
    ...prose(page.description, columns),
    ...section("Examples", page.examples.flatMap((example) => command(example, columns))),
    ...section("Arguments", entries(page.args, HelpPage.argument, columns)),
    ...section("Options", entries(own, HelpPage.option, columns)),
    ...section("Options of every command", entries([...everywhere, RootHelp.help], HelpPage.option, columns))
  ])
}

/** The help of the program: its commands, and what they share. */
export const ofProgram = (terminal: number): string => {
  const columns = Math.min(terminal, widest)
  return text([
    title("stevedore COMMAND [OPTIONS] ..."),
    "",
    ...prose(RootHelp.description, columns),
    ...section("Examples", RootHelp.examples.flatMap((example) => command(example, columns))),
    ...section("Commands", definitions(Object.entries(summaries), columns)),
    ...section("Options", entries(RootHelp.options, HelpPage.option, columns)),
    ...section("Environment", definitions(RootHelp.environment, columns)),
    ...section("Exit codes", definitions(RootHelp.exitCodes, columns)),
    "",
    ...prose(["For one command: stevedore help COMMAND"], columns)
  ])
}
