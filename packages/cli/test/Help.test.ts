import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Option } from "effect"
import { stripVTControlCharacters } from "node:util"
import { runs } from "../../testing/test/support/runs.js"
import * as CommandLine from "../src/CommandLine.js"
import * as Help from "../src/Help.js"
import * as HelpPage from "../src/HelpPage.js"
import { summaries } from "../src/internal/commands.js"
import * as ManualPage from "../src/ManualPage.js"

const pages = CommandLine.pages()

const pageOf = (name: string) => pages.find((page) => page.name === name) ?? assert.fail(name)

const optionOf = (name: string, option: string) =>
  pageOf(name).options.find(({ names }) => names.includes(option)) ?? assert.fail(option)

const printed = (columns: number) =>
  [Help.ofProgram(columns), ...pages.map((page) => Help.ofCommand(page, columns))].map(stripVTControlCharacters)

describe("HelpPage", () => {
  it("has every command, with what it takes", () => {
    assert.deepStrictEqual(pages.map(({ name }) => name), Object.keys(summaries))
    assert.deepStrictEqual(pages.map(HelpPage.usage), [
      "stevedore upload [OPTIONS] PATH...",
      "stevedore uploads [OPTIONS]",
      "stevedore uploaded [OPTIONS] [PATH]",
      "stevedore download [OPTIONS] FILE_ID...",
      "stevedore bulk [OPTIONS] ACTION [JOB] [PATH]",
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
      "stevedore bucket [OPTIONS] ACTION",
      "stevedore sandbox [OPTIONS]"
    ])
  })

  it("reads flags, values, choices and what can be repeated", () => {
    assert.strictEqual(HelpPage.option(optionOf("upload", "-q")), "-q, --quiet")
    assert.strictEqual(HelpPage.option(optionOf("upload", "--files")), "--files NUMBER")
    assert.strictEqual(HelpPage.option(optionOf("upload", "--strategy")), "--strategy auto|single|multipart")
    assert.strictEqual(HelpPage.option(optionOf("download", "-o")), "-o, --output PATH")
    assert.strictEqual(HelpPage.option(optionOf("list", "--filter")), "--filter NAME=VALUE ...")
    assert.deepStrictEqual(optionOf("upload", "--json").value, Option.none())
  })

  it("describes every option and argument in its own words", () => {
    for (const { args, name, options } of pages) {
      for (const { description, names } of [...args, ...options]) {
        assert.isAbove(description.length, 10, `${name} ${names.join()}`)
        assert.notMatch(description, /This setting|A true or false|user-defined|One of the following/)
      }
    }
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
      assert.deepStrictEqual(words(help), words(printed(100)[index] ?? ""))
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
      assert.include(manual, `.SS ${HelpPage.usage(page).replaceAll("-", "\\-")}`)
      for (const option of page.options) {
        assert.include(manual, `.B ${HelpPage.option(option).replaceAll("-", "\\-")}\n`)
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
