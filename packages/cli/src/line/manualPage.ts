/** The manual page `stevedore(1)`, from the same data as the help. */
import * as Command from "../options/command.js"
import type { Entry } from "../options/parameter.js"
import * as RootHelp from "./programHelp.js"

// A line that begins with a dot or a quote would be a request to the formatter
const escaped = (text: string): string =>
  text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^(?=[.'])/, "\\&")

const heading = (text: string): string => `.SH ${text}`

const definition = (name: string, description: string): ReadonlyArray<string> => [
  ".TP",
  `.B ${escaped(name)}`,
  escaped(description)
]

const example = (line: string): ReadonlyArray<string> => [".PP", ".EX", `$ ${escaped(line)}`, ".EE"]

const paragraph = (text: string): ReadonlyArray<string> => [".PP", escaped(text)]

const ofEntries = (
  entries: ReadonlyArray<Entry>,
  named: (entry: Entry) => string
): ReadonlyArray<string> => entries.flatMap((entry) => definition(named(entry), entry.help))

const command = (page: Command.Page): ReadonlyArray<string> => [
  `.SS ${escaped(Command.usage(page))}`,
  ...paragraph(page.help),
  ...ofEntries(page.args, Command.argument),
  ...ofEntries(page.options.filter((entry) => !RootHelp.isShared(entry)), Command.option),
  ...page.examples.flatMap(example)
]

/** The page in the format of `man`, for these commands. */
export const render = (pages: ReadonlyArray<Command.Page>, version: string): string =>
  [
    `.TH STEVEDORE 1 "" "stevedore ${version}" "User Commands"`,
    heading("NAME"),
    "stevedore \\- upload, download and list files from a terminal",
    heading("SYNOPSIS"),
    ".B stevedore",
    "COMMAND [OPTIONS] ...",
    heading("DESCRIPTION"),
    ...RootHelp.description.flatMap(paragraph),
    heading("EXAMPLES"),
    ...RootHelp.examples.flatMap(example),
    heading("COMMANDS"),
    ...pages.flatMap(({ name, summary }) => definition(name, summary)),
    heading("OPTIONS"),
    ...ofEntries([...RootHelp.options, ...RootHelp.everywhere], Command.option),
    heading("OPTIONS OF EACH COMMAND"),
    ...pages.flatMap(command),
    heading("ENVIRONMENT"),
    ...RootHelp.environment.flatMap(([name, description]) => definition(name, description)),
    heading("EXIT STATUS"),
    ...RootHelp.exitCodes.flatMap(([code, meaning]) => definition(code, meaning)),
    ""
  ].join("\n")
