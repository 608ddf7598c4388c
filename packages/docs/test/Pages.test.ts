import { assert, describe, it } from "@effect/vitest"
import { FaultRule, FaultScript, SandboxReport } from "@stevedore/testing"
import { Schema } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { packages } from "../../../.ci/packages.mjs"
import { blocksOf, linesOf, pages, upgradePages } from "../../../.ci/pages.mjs"

const root = fileURLToPath(new URL("../../../", import.meta.url))

const read = (page: string): string => readFileSync(`${root}packages/docs/${page}`, "utf8")

// what stands in backticks in the first cell of the rows that begin with `pattern`
const named = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(([, name]) => name ?? "")

describe("the README", () => {
  it("has at most 10 kB", () => {
    assert.isAtMost(readFileSync(`${root}README.md`).byteLength, 10_000)
  })
})

describe("the page about faults", () => {
  const page = read("reference/faults.md")

  it("has every verb of the language, once, and no other", () => {
    const verbs = Object.keys(FaultScript.on("list"))
    assert.isAbove(verbs.length, 20)
    assert.deepStrictEqual([...named(page, /^\| `\.(\w+)\(/gm)].sort(), [...verbs].sort())
  })

  it("has every kind of request that a rule can be about", () => {
    const targets = FaultRule.Target.members.flatMap(({ literals }) => [...literals])
    const section = page.split("## Which requests")[1]?.split("\n## ")[0] ?? ""
    for (const target of targets) {
      assert.include(section, `\`"${target}"\``)
    }
  })

  it("shows a script as the JSON that it is", () => {
    const json = /^```json\n([^]*?)^```$/m.exec(page)?.[1] ?? ""
    const script = Schema.decodeSync(Schema.parseJson(FaultScript.FaultScript))(json)
    assert.strictEqual(String(script), "FaultScript.on(\"putPart\").part(3).resetAfter(65536)")
  })
})

describe("the page about the sandbox", () => {
  it("has every rule that is watched, and no other", () => {
    const section = read("guide/sandbox.md").split("## Rules that are watched")[1]?.split("\n## ")[0] ?? ""
    assert.deepStrictEqual(
      [...named(section, /^\| `(\w+)`/gm)].sort(),
      [...SandboxReport.Rule.literals].sort()
    )
  })
})

describe("the page about promises", () => {
  const page = read("how-it-works/promises.md")

  it("names tests for each, and all of them are there", () => {
    const all = named(page, /^- `(packages\/[^`]+\.test\.ts)`/gm)
    assert.deepStrictEqual(all.filter((file) => !existsSync(`${root}${file}`)), [])
    const promises = page.split(/^## /gm).slice(1).filter((section) => !section.startsWith("What is not promised"))
    assert.lengthOf(promises, 13)
    for (const promise of promises) {
      const files = named(promise, /^- `(packages\/[^`]+\.test\.ts)`$/gm)
      assert.isAbove(files.length, 0, promise)
    }
  })
})

describe("a link in a page", () => {
  const all = [...pages, ...["ARCHITECTURE", "CONTRIBUTING", "SECURITY"].map((name) => `.github/${name}.md`)]

  const textOf = (page: string): string => readFileSync(`${root}${page}`, "utf8").replaceAll(/^```[^]*?^```$/gm, "")

  // as the site and GitHub name the headings
  const anchorsOf = (page: string): ReadonlyArray<string> =>
    named(textOf(page), /^#+ (.+)$/gm).map((title) =>
      title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").trim().replaceAll(" ", "-")
    )

  // of the site, a page is named without its ending, and from its root by a slash
  const pageOf = (page: string, link: string): string | undefined => {
    const from = link.startsWith("/") ? `file://${root}packages/docs${link}` : new URL(link, `file://${root}${page}`)
    const path = link === "" ? `${root}${page}` : fileURLToPath(from)
    return [`${path}.md`, `${path}/README.md`, `${path}/index.md`, path, path.replace("/docs/", "/docs/public/")]
      .find((file) => existsSync(file))?.slice(root.length)
  }

  it("leads to a page that is there, and to a heading that it has", () => {
    const links = all.flatMap((page) =>
      named(textOf(page).replaceAll(/`[^`\n]*`/g, "code"), /\]\(([^)\s]+)\)/g)
        .filter((link) => !/^(?:https?:|\/api\/|\/llms)/.test(link))
        .map((link) => ({ page, link, parts: link.split("#") }))
    )
    assert.isAbove(links.length, 150)
    const dead = links.filter(({ page, parts: [link = "", anchor] }) => {
      const there = pageOf(page, link)
      return there === undefined || anchor !== undefined && !anchorsOf(there).includes(anchor)
    })
    assert.deepStrictEqual(dead.map(({ link, page }) => `${page}: ${link}`), [])
  })
})

describe("versions that the README names", () => {
  const manifest = (path: string) => JSON.parse(readFileSync(`${root}${path}package.json`, "utf8"))
  const text = readFileSync(`${root}README.md`, "utf8")

  it("are those of the packages", () => {
    const { engines, peerDependencies, version } = manifest("packages/core/")
    const peer = (name: string): string => peerDependencies[name].replace(/\.0$/, "")
    assert.include(text, `(\`effect\` ${peer("effect")}, \`@effect/platform\` ${peer("@effect/platform")})`)
    assert.include(text, `Node ${engines.node.replace(/^>=|\.0$/g, "")} or later`)
    for (const [, named] of text.matchAll(/\bversion, (\d\S*),/g)) assert.strictEqual(named, version)
  })
})

describe("programs of a version that is out", () => {
  // `npm run check -- types` compiles them
  const digests: Readonly<Record<string, string>> = {
    "0.1.0": "03de294c0a7a8b87"
  }

  const changelogs = packages.filter(({ published }) => published)
    .map(({ path }) => readFileSync(`${path}/CHANGELOG.md`, "utf8"))

  it.each(upgradePages)("%s is as it was", (page) => {
    const code = blocksOf(page).map((block) => block.code).join("\n")
    const version = /([\d.]+)\.md$/.exec(page)?.[1] ?? ""
    assert.strictEqual(createHash("sha256").update(code).digest("hex").slice(0, 16), digests[version])
  })

  it("that compile no longer have a line in the changelog that says what to write instead", () => {
    const until = upgradePages.flatMap((page) => blocksOf(page).map(({ more }) => more)).filter((more) => more !== "")
    const untold = until.filter((more) => {
      const [, version = "?"] = /^until (\d+\.\d+\.\d+)$/.exec(more) ?? []
      return !changelogs.some((text) => /instead of/i.test(text.split(`## ${version}\n`)[1]?.split("\n## ")[0] ?? ""))
    })
    assert.deepStrictEqual(untold, [])
  })
})

describe("a table in a page", () => {
  it("has a name for each column", () => {
    const unnamed = pages.flatMap((page) =>
      named(readFileSync(`${root}${page}`, "utf8"), /^(\|.*\|)\n\| ?:?-{3}/gm)
        .filter((head) => /\|\s*\|/.test(head))
        .map((head) => `${page}: ${head}`)
    )
    assert.deepStrictEqual(unnamed, [])
  })
})

describe("code in a page", () => {
  // the column of text on the site is as wide as this
  const columns = 80

  const widerIn = (place: string, code: string, from = 0): ReadonlyArray<string> =>
    code.split("\n").flatMap((text, at) => text.length > columns ? [`${place}:${from + at + 1}`] : [])

  it("is never cut at the side", () => {
    const wide = pages.flatMap((page) => blocksOf(page).flatMap(({ code, line }) => widerIn(page, code, line)))
    assert.deepStrictEqual(wide, [])
  })

  it("is never cut at the side where a page includes a file", () => {
    const included = pages.flatMap((page) =>
      [...readFileSync(`${root}${page}`, "utf8").matchAll(/^<<< (\S+)$/gm)].map(([, file = ""]) =>
        fileURLToPath(new URL(file, `file://${root}${page}`))
      )
    )
    assert.isAbove(included.length, 10)
    assert.deepStrictEqual(included.flatMap((file) => widerIn(file, readFileSync(file, "utf8"))), [])
  })
})

describe("what a reader types", () => {
  const lines = pages.flatMap((page) => linesOf(page).map(({ line }) => ({ page, line })))

  const Versions = Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), {
    default: () => ({})
  })
  const Manifest = Schema.parseJson(
    Schema.Struct({ dependencies: Versions, devDependencies: Versions, peerDependencies: Versions })
  )

  const versionsIn = (manifests: ReadonlyArray<string>): ReadonlyMap<string, string> =>
    new Map(
      manifests
        .map((path) => Schema.decodeSync(Manifest)(readFileSync(path, "utf8")))
        .flatMap((
          { dependencies, devDependencies, peerDependencies }
        ) => [dependencies, devDependencies, peerDependencies])
        .flatMap((versions) => Object.entries(versions))
    )

  // of the root come those that only tests need, of the examples those that only some applications do
  const needed = versionsIn([`${root}package.json`, ...packages.map(({ path }) => `${path}/package.json`)])

  const neededOn4 = versionsIn([`${root}packages/effect4/line/package.json`])

  it("installs of Effect the line that the packages are written for: the latest is another", () => {
    const installed = lines.filter(({ line }) => /^npm (?:i|install) (?!effect$)/.test(line)).flatMap((
      { line, page }
    ) =>
      line.split(" ").filter((word) => /^(?:effect|@effect\/[^@]+)(?:@|$)/.test(word)).map((word) => ({
        page,
        word,
        versions: /[@/]effect4\b/.test(line) ? neededOn4 : needed
      }))
    )
    assert.isAbove(installed.length, 10)
    const isOfTheLine = ({ versions, word }: typeof installed[number]): boolean => {
      const [, name = "", version = ""] = /^(@?[^@]+)@~?(.+)$/.exec(word) ?? []
      return versions.get(name)?.replace("^", "").startsWith(`${version}.`) === true
    }
    assert.deepStrictEqual(installed.filter((one) => !isOfTheLine(one)), [])
  })

  it("says what to install for each package that an example imports", () => {
    const said = new Set(
      lines.filter(({ line }) => /^npm (?:i|install) /.test(line)).flatMap(({ line }) =>
        [...line.matchAll(/ ((?:@[\w-]+\/)?[\w-]+)(?:@\S+)?/g)].map(([, name]) => name)
      )
    )
    // whoever reads about a queue for one of these has it
    const theirs = ["react", "svelte", "vue", "solid-js"]
    const imported = pages.flatMap((page) =>
      blocksOf(page).filter(({ language }) => /^tsx?$/.test(language ?? "")).flatMap(({ code }) =>
        [...code.matchAll(/ from "(?!node:)((?:@[\w-]+\/)?[\w-]+)/g)].map(([, name = ""]) => name)
      )
    )
    assert.isAbove(imported.length, 100)
    assert.deepStrictEqual([...new Set(imported)].filter((name) => !said.has(name) && !theirs.includes(name)), [])
  })

  it("has npx fetch the command by its package: what is called stevedore in the registry is somebody else's", () => {
    // the README does so in a clone, where it is installed
    const elsewhere = lines.filter(({ page }) => page !== "README.md")
    assert.deepStrictEqual(elsewhere.filter(({ line }) => line.includes("npx stevedore")), [])
  })
})
