// What users read: the READMEs, what their coding agents read, and the pages of the documentation, with the code in them. The
// pages of the reference are made from the sources, where docgen checks their code.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { packages, root } from "./packages.mjs"

const documentation = "packages/docs"

/** Paths from the repository's root. @type {ReadonlyArray<string>} */
export const pages = [
  ...["", ...packages.map(({ directory }) => `packages/${directory}/`)]
    .flatMap((path) => [`${path}README.md`, `${path}AGENTS.md`])
    .filter((page) => existsSync(`${root}/${page}`)),
  ...readdirSync(`${root}/${documentation}`, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) =>
      path.endsWith(".md") && path !== "README.md" && !/^api\/|(?:^|\/)(?:node_modules|\.\w[^/]*)\//.test(path)
    )
    .sort()
    .map((path) => `${documentation}/${path}`)
]

const upgrades = "packages/examples/upgrades"

/** Programs of versions that are out: what compiles there compiles here. */
export const upgradePages = readdirSync(`${root}/${upgrades}`).sort().map((page) => `${upgrades}/${page}`)

/**
 * The fenced blocks of a page. `line` is the one that opens the fence, counted from 1; `more` is what it says besides the language.
 *
 * @param {string} page
 * @returns {ReadonlyArray<{ language: string, more: string, code: string, line: number }>}
 */
export const blocksOf = (page) => {
  const text = readFileSync(`${root}/${page}`, "utf8")
  return [...text.matchAll(/^```([a-z]+)([^\n]*)\n([^]*?)^```$/gm)].map(
    ({ 1: language = "", 2: more = "", 3: code = "", index }) => ({
      language,
      more: more.trim(),
      code,
      line: text.slice(0, index).split("\n").length
    })
  )
}

const install = /^(?:RUN )?(npm (?:i|install) (?=.*[a-z]).*)$/

/**
 * What a page has a reader type: the lines of its shells, what a Dockerfile installs, and what its prose says to install, each
 * without the comment at its end. `block` is the code that a line stands in.
 *
 * @param {string} page
 * @returns {ReadonlyArray<{ line: string, at: number, block: string }>}
 */
export const linesOf = (page) => {
  const blocks = blocksOf(page).filter(({ language }) => language === "sh" || language === "dockerfile")
  const typed = blocks.flatMap(({ code, language, line: at }) =>
    code.replaceAll(/\\\n\s*/g, "").split("\n")
      .map((line) => language === "sh" ? line : install.exec(line)?.[1] ?? "")
      .map((line) => ({ line: line.replace(/\s+# .*/, ""), at, block: code }))
  )
  const prose = readFileSync(`${root}/${page}`, "utf8").split("\n").flatMap((text, index) =>
    [...text.matchAll(/`(npm install [^`]+)`/g)].map(([, line = ""]) => ({ line, at: index + 1, block: "" }))
  )
  return [...typed, ...prose].filter(({ line }) => line !== "")
    .sort((one, other) => one.at - other.at)
}
