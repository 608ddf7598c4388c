// Type-checks everything as one program, with Effect's own diagnostics: src, tests, these scripts, and every ts block of the
// READMEs and the documentation as a user's program that imports src. A block becomes a file whose line numbers are those
// of its page; one that begins with its name in a comment can be imported by the others of the page. So is every program of a
// version that is out, but for those that the changelog of a later one says how to change.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { root } from "./packages.mjs"
import { blocksOf, pages, upgradePages } from "./pages.mjs"

const folder = `${root}/.cache/readmes`
rmSync(folder, { recursive: true, force: true })

/** @type {Map<string, string>} from the extracted file to its page */
const origins = new Map()

for (const page of [...pages, ...upgradePages]) {
  const directory = page.replaceAll("/", "-").replace(/\.md$/, "")
  mkdirSync(`${folder}/${directory}`, { recursive: true })
  for (const { code, language, line, more } of blocksOf(page)) {
    if (!["ts", "tsx", "typescript"].includes(language) || more.startsWith("until ")) continue
    const named = /^\/\/ ([\w.-]+\.tsx?)\n/.exec(code)?.[1]
    const name = `${directory}/${named ?? `line-${line}.${language === "tsx" ? "tsx" : "ts"}`}`
    writeFileSync(`${folder}/${name}`, "\n".repeat(line) + code)
    origins.set(name, page)
  }
}

const { include } = JSON.parse(readFileSync(`${root}/tsconfig.json`, "utf8"))

writeFileSync(
  `${folder}/tsconfig.json`,
  JSON.stringify({
    extends: "../../tsconfig.json",
    // what is not used is found by lint, which does not read the pages: there a program may stand unused
    compilerOptions: { noUnusedLocals: false, jsx: "react-jsx" },
    include: ["*/*.ts", "*/*.tsx", ...include.map((/** @type {string} */ path) => `../../${path}`)]
  })
)

const require = createRequire(import.meta.url)
/** @type {typeof import("typescript")} */
const typescript = require("typescript")
const effectDiagnostics = require("@effect/language-service")({ typescript })

const config = typescript.readConfigFile(`${folder}/tsconfig.json`, typescript.sys.readFile).config
const { fileNames, options } = typescript.parseJsonConfigFileContent(config, typescript.sys, folder)
const program = typescript.createProgram(fileNames, options)

const { plugins: [plugin] } = JSON.parse(readFileSync(`${root}/tsconfig.base.json`, "utf8")).compilerOptions
/** @param {string} name */
const typeProblems = (name) => program.getSemanticDiagnostics(program.getSourceFile(name))

// the plugin asks the language service for no more than this
const service = effectDiagnostics.create({
  config: plugin,
  languageService: {
    getProgram: () => program,
    getSemanticDiagnostics: typeProblems
  },
  languageServiceHost: {},
  project: { log: () => {} }
})

/** @type {ReadonlyArray<import("typescript").Diagnostic>} */
const found = [
  ...program.getConfigFileParsingDiagnostics(),
  ...program.getOptionsDiagnostics(),
  ...program.getSyntacticDiagnostics(),
  ...program.getGlobalDiagnostics(),
  ...fileNames.flatMap((name) =>
    // a page shows what is easy to read
    name.startsWith(folder) ? typeProblems(name) : service.getSemanticDiagnostics(name)
  )
]
const problems = found.filter(({ category }) =>
  category === typescript.DiagnosticCategory.Error || category === typescript.DiagnosticCategory.Warning
)
const text = typescript.formatDiagnostics(problems, {
  getCurrentDirectory: () => root,
  getCanonicalFileName: (/** @type {string} */ name) => name,
  getNewLine: () => "\n"
})
console.log(
  text.replaceAll(
    /^\.cache\/readmes\/([^(]+)/gm,
    (/** @type {string} */ _, /** @type {string} */ name) => origins.get(name) ?? name
  )
)
process.exitCode = problems.length === 0 ? 0 : 1
