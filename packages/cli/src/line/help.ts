/** The help as it is printed: examples first, and no line wider than the terminal. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Command from "../options/command.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { question } from "../options/nearest.js"
import type { Entry } from "../options/parameter.js"
import { Output, type OutputFailed } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as RootHelp from "./programHelp.js"

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
  all: ReadonlyArray<Entry>,
  named: (entry: Entry) => string,
  columns: number
): ReadonlyArray<string> => definitions(all.map((entry) => [named(entry), entry.help]), columns)

const prose = (paragraphs: ReadonlyArray<string>, columns: number): ReadonlyArray<string> =>
  paragraphs.flatMap((text) => Printable.wrapped(text, columns))

const text = (lines: ReadonlyArray<string>): string => lines.join("\n")

/** The help of one command. Headings are bold, by codes that a console without colours removes. */
export const ofCommand = (page: Command.Page, terminal: number): string => {
  const columns = Math.min(terminal, widest)
  const [everywhere, own] = Arr.partition(page.options, (option) => !RootHelp.isShared(option))
  return text([
    ...Printable.wrapped(Command.usage(page), columns).map(title),
    "",
    ...prose([page.help], columns),
    ...section("Examples", page.examples.flatMap((example) => command(example, columns))),
    ...section("Arguments", entries(page.args, Command.argument, columns)),
    ...section("Options", entries(own, Command.option, columns)),
    ...section(
      "Options of every command",
      entries([...everywhere, RootHelp.accepts.help.entry], Command.option, columns)
    )
  ])
}

/** The help of the program: its commands, and what they share. */
export const ofProgram = (pages: ReadonlyArray<Command.Page>, terminal: number): string => {
  const columns = Math.min(terminal, widest)
  return text([
    title("stevedore COMMAND [OPTIONS] ..."),
    "",
    ...prose(RootHelp.description, columns),
    ...section("Examples", RootHelp.examples.flatMap((example) => command(example, columns))),
    ...section("Commands", definitions(pages.map(({ name, summary }) => [name, summary]), columns)),
    ...section("Options", entries(RootHelp.options, Command.option, columns)),
    ...section("Environment", definitions(RootHelp.environment, columns)),
    ...section("Exit codes", definitions(RootHelp.exitCodes, columns)),
    "",
    ...prose(["For one command: stevedore help COMMAND"], columns)
  ])
}

/** What is said about a command that does not exist. */
export const noCommand = (word: string, pages: ReadonlyArray<Command.Page>): InvalidInput => {
  const known = pages.find(({ elsewhere }) => elsewhere.includes(word))
  const names = [...pages.map(({ name }) => name), ...RootHelp.options.map(({ names: [name] }) => name)]
  return invalid(word, `no such command${question(word, names, known?.name)} See stevedore help`)
}

/** Shows the help of a command, or of the program. */
export const show = (
  name: Option.Option<string>,
  pages: ReadonlyArray<Command.Page>
): Effect.Effect<void, InvalidInput | OutputFailed, Output> =>
  Effect.gen(function*() {
    const { columns = 80, styled } = yield* Output
    if (Option.isNone(name)) return yield* styled(ofProgram(pages, columns))
    const page = pages.find((page) => page.name === name.value)
    if (page === undefined) return yield* noCommand(name.value, pages)
    yield* styled(ofCommand(page, columns))
  })
