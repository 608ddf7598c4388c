import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { commands } from "../../src/line/commands.js"
import * as RootHelp from "../../src/line/programHelp.js"
import * as Command from "../../src/options/command.js"
import type { Entry } from "../../src/options/parameter.js"
import * as ExitCode from "../../src/print/exitCode.js"

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

const textOf = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")

const guide = "docs/guide/command-line.md"

const agents = "cli/AGENTS.md"

/** The first word of each code in a text. */
const namesIn = (text = ""): ReadonlyArray<string> => [...text.matchAll(/`(\w+)[^`]*`/g)].map(([, name = ""]) => name)

describe("pages that say which commands there are", () => {
  const all = commands.map(({ name }) => name)

  it.each([guide, "cli/README.md"])("%s names each of them", (file) => {
    const [table = ""] = /^\| command \| does \|\n(?:\|.*\n)+/m.exec(textOf(file)) ?? []
    const named = namesIn(table.replaceAll(/^\|([^|]*)\|.*$/gm, "$1"))
    assert.deepStrictEqual(all.filter((name) => name !== "help" && !named.includes(name)), [])
  })

  it("what agents read names each of them, and no other", () => {
    const [, list] = /^The command `stevedore`: ([^]*?`help`)/m.exec(textOf(agents)) ?? []
    assert.deepStrictEqual(namesIn(list).toSorted(), all.toSorted())
  })
})

describe("pages that say the exit codes", () => {
  const { failed, hungUp, interrupted, ok, unauthorized, usage } = ExitCode
  const all = [ok, failed, usage, unauthorized, hungUp, interrupted]

  it("have each of them, and no other", () => {
    const table = textOf(guide).split("## Exit codes")[1]?.split("\n## ")[0] ?? ""
    assert.deepStrictEqual([...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code)), all)
    const sentence = /Exit codes: [^]*?\./.exec(textOf(agents))?.[0] ?? ""
    assert.deepStrictEqual([...sentence.matchAll(/\d+/g)].map(([code]) => Number(code)), all)
  })
})
