import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, FastCheck, Option } from "effect"
import { stripVTControlCharacters } from "node:util"
import { runs } from "../../../testing/test/support/runs.js"
import { commands } from "../../src/line/commands.js"
import * as Help from "../../src/line/help.js"
import * as ManualPage from "../../src/line/manualPage.js"
import { parse } from "../../src/line/parse.js"
import * as RootHelp from "../../src/line/programHelp.js"
import * as Command from "../../src/options/command.js"

const pages: ReadonlyArray<Command.Page> = commands

const pageOf = (name: string) => pages.find((page) => page.name === name) ?? assert.fail(name)

const optionOf = (name: string, option: string) =>
  pageOf(name).options.find(({ names }) => names.includes(option)) ?? assert.fail(option)

const printed = (columns: number): ReadonlyArray<string> =>
  [Help.ofProgram(pages, columns), ...pages.map((page) => Help.ofCommand(page, columns))].map(stripVTControlCharacters)

const wide = printed(100)

describe("a page of the help", () => {
  it("has every command, with what it takes", () => {
    assert.deepStrictEqual(pages.map(Command.usage), [
      "stevedore upload [OPTIONS] PATH...",
      "stevedore uploads [OPTIONS]",
      "stevedore uploaded [OPTIONS] [PATH]",
      "stevedore download [OPTIONS] FILE_ID...",
      "stevedore bulk [OPTIONS] ACTION [JOB] [PATH]",
      "stevedore mcp [OPTIONS]",
      "stevedore limit [OPTIONS] [RATE]",
      "stevedore file [OPTIONS] FILE_ID",
      "stevedore projects [OPTIONS]",
      "stevedore list [OPTIONS] RESOURCE",
      "stevedore whoami [OPTIONS]",
      "stevedore doctor [OPTIONS]",
      "stevedore config [OPTIONS]",
      "stevedore help [COMMAND]",
      "stevedore serve [OPTIONS]",
      "stevedore token [OPTIONS] ACTION [ID]",
      "stevedore files [OPTIONS] ACTION [ID]",
      "stevedore bucket [OPTIONS] ACTION",
      "stevedore sandbox [OPTIONS]"
    ])
  })

  it("shows flags, values, choices and what can be repeated", () => {
    assert.strictEqual(Command.option(optionOf("upload", "-q")), "-q, --quiet")
    assert.strictEqual(Command.option(optionOf("upload", "--files")), "--files NUMBER")
    assert.strictEqual(Command.option(optionOf("upload", "--strategy")), "--strategy auto|single|multipart")
    assert.strictEqual(Command.option(optionOf("download", "-o")), "-o, --output PATH")
    assert.strictEqual(Command.option(optionOf("list", "--filter")), "--filter NAME=VALUE ...")
    assert.strictEqual(Command.option(optionOf("upload", "--json")), "--json")
  })

  it("describes every option and argument in its own words", () => {
    for (const { args, name, options } of pages) {
      for (const { help, names } of [...args, ...options]) assert.isAbove(help.length, 10, `${name} ${names.join()}`)
    }
  })
})

describe("the examples of a command", () => {
  const examples = pages.flatMap((page) => page.examples.map((example) => ({ page, example })))

  it("are there", () => assert.isAtLeast(examples.length, pages.length))

  it.each(examples)("$example", ({ example, page }) => {
    // what follows belongs to a shell
    const [, words = ""] = /(?:^| )stevedore ([^|>;&]+)/.exec(example) ?? []
    const { mistake, names } = parse(words.trim().split(/\s+/), [...page.options, ...RootHelp.options])
    assert.deepStrictEqual([names[0], mistake], [page.name, Option.none()])
  })
})

/** What is true of the options of all commands, because words are told apart before their command is known. */
describe("an option of several commands", () => {
  const all = [...RootHelp.options, ...pages.flatMap(({ options }) => options)]
  const byName = Object.entries(
    Arr.groupBy(all.flatMap((entry) => entry.names.map((name) => [name, entry] as const)), ([name]) => name)
  )

  it("takes a value in all of them, or in none, and means a path in all or in none", () => {
    assert.isAbove(byName.length, 80)
    for (const [name, entries] of byName) {
      const kinds = new Set(entries.map(([, { isPath, placeholder }]) => `${placeholder === undefined} ${isPath}`))
      assert.strictEqual(kinds.size, 1, name)
      assert.strictEqual(name, name.toLowerCase())
    }
  })

  it("is no name that an option of the same command has, here or elsewhere", () => {
    for (const { name, options, unneeded } of pages) {
      const names = [
        ...options.flatMap(({ elsewhere, names }) => [...names, ...elsewhere]),
        ...RootHelp.options.flatMap(({ names }) => names),
        ...Object.keys(unneeded)
      ]
      assert.lengthOf(names, new Set(names).size, name)
    }
    const commands = pages.flatMap(({ elsewhere, name }) => [name, ...elsewhere])
    assert.lengthOf(commands, new Set(commands).size)
  })
})

describe("Help", () => {
  it("puts the usage and the examples before the options", () => {
    const help = stripVTControlCharacters(Help.ofCommand(pageOf("upload"), 80))
    assert.isTrue(help.startsWith("stevedore upload [OPTIONS] PATH...\n"))
    const order = ["Examples\n  $ stevedore upload interview.mp4\n", "\nArguments\n", "\nOptions\n"]
    const found = order.map((text) => help.indexOf(text))
    assert.deepStrictEqual(found, [...found].sort((one, other) => one - other))
    assert.isAbove(found[0] ?? -1, 0)
  })

  it.prop("has no line wider than the terminal whose words could be broken, and loses no word", [
    FastCheck.integer({ min: 40, max: 200 })
  ], ([columns]) => {
    for (const [index, help] of printed(columns).entries()) {
      for (const line of help.split("\n")) {
        const unbreakable = line.replace(/ \\$/, "").match(/(?:'[^']*'|"[^"]*"|\S)+/g) ?? []
        assert.isTrue(line.length <= columns || unbreakable.length === 1, `${columns}: ${line}`)
      }
      const words = (text: string) => text.split(/[\s\\]+/).filter((word) => word !== "")
      assert.deepStrictEqual(words(help), words(wide[index] ?? ""))
    }
  }, { fastCheck: { numRuns: runs(10) } })

  it("fits into 40, 80 and 200 columns, and uses at most 100", () => {
    const widest = (columns: number) =>
      Math.max(...printed(columns).flatMap((help) => help.split("\n").map((line) => line.length)))
    assert.isAtMost(widest(80), 80)
    assert.isAtMost(widest(200), Help.widest)
  })
})

describe("ManualPage", () => {
  const manual = ManualPage.render(pages, "1.2.3")

  it("has each command and each of its options", () => {
    for (const page of pages) {
      assert.include(manual, `.SS ${Command.usage(page).replaceAll("-", "\\-")}`)
      for (const option of page.options) {
        assert.include(manual, `.B ${Command.option(option).replaceAll("-", "\\-")}\n`)
      }
    }
    assert.include(manual, "stevedore 1.2.3")
  })

  it("has no line that the formatter would take for an unknown request", () => {
    const requests = new Set(["TH", "SH", "SS", "PP", "TP", "B", "EX", "EE"])
    for (const line of manual.split("\n").filter((one) => /^[.']/.test(one))) {
      assert.isTrue(requests.has(/^\.(\w+)/.exec(line)?.[1] ?? ""), line)
    }
  })
})
