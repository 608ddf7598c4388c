import { assert, describe, it } from "@effect/vitest"
import { expect } from "vitest"
import { commands } from "../../src/line/commands.js"
import * as RootHelp from "../../src/line/programHelp.js"
import * as Command from "../../src/options/command.js"
import type { Entry } from "../../src/options/parameter.js"

const cell = (text: string): string => text.replace(/[|<>*]/g, "\\$&")

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``

const table = (
  head: readonly [string, string],
  rows: ReadonlyArray<readonly [string, string]>
): ReadonlyArray<string> =>
  rows.length === 0 ? [] : ["", `| ${head.join(" | ")} |`, "|---|---|", ...rows.map((row) => `| ${row.join(" | ")} |`)]

const ofOptions = (options: ReadonlyArray<Entry>) =>
  table(["option", "meaning"], options.map((entry) => [code(Command.option(entry)), cell(entry.help)]))

const elsewhere = new Map(commands.flatMap(({ elsewhere, name, options, unneeded }) => [
  ...elsewhere.map((other) => [code(other), code(name)] as const),
  ...options.flatMap((entry) => entry.elsewhere.map((other) => [code(other), code(entry.names[0])] as const)),
  ...Object.entries(unneeded).map(([option, reason]) => [code(`${name} ${option}`), `nothing: ${reason}`] as const)
]))

const page = [
  "# Options of the command",
  "",
  "What `stevedore help COMMAND` says, for every command. The [command line](../guide/command-line) says what it is for.",
  "",
  "Options stand before or after arguments, as `--name value` or `--name=value`. Flags are off with `--name=false`, and several letters",
  "may be one word: `-qv`. Where one is given twice, the last one counts, unless the table shows it with `...`.",
  ...commands.flatMap((command) => [
    "",
    `## ${command.name}`,
    "",
    code(Command.usage(command)),
    "",
    `${cell(command.help)}.`,
    ...table(["argument", "meaning"], command.args.map((entry) => [code(Command.argument(entry)), cell(entry.help)])),
    ...ofOptions(command.options.filter((entry) => !RootHelp.isShared(entry)))
  ]),
  "",
  "## Every command",
  ...ofOptions([...RootHelp.everywhere, ...RootHelp.options]),
  "",
  "## Coming from another tool",
  "",
  "The command answers words of rclone, s5cmd, azcopy and aws with its own:",
  ...table(["there", "here"], [...elsewhere].toSorted()),
  ""
].join("\n")

describe("the options of the guide", () => {
  // npx vitest run -u packages/cli/test/laws/optionsPage.test.ts writes them
  it("are those of the command", async () => {
    assert.isAbove(elsewhere.size, 20)
    await expect(page).toMatchFileSnapshot("../../../docs/reference/command-options.md")
  })
})
