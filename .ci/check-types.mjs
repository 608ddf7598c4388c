// Type-checks everything as one program: src, tests, these scripts, and every ts block of the READMEs and of the documentation
// as a user's program that imports src. A block becomes a file whose line numbers are those of its page. One that begins
// with its name in a comment, such as `// Recordings.ts`, can be imported by the other blocks of the page.
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { root } from "./packages.mjs"
import { blocksOf, pages } from "./pages.mjs"

const folder = `${root}/.cache/readmes`
rmSync(folder, { recursive: true, force: true })

/** @type {Map<string, string>} from the extracted file to its page */
const origins = new Map()

for (const page of pages) {
  const directory = page.replaceAll("/", "-").replace(/\.md$/, "")
  mkdirSync(`${folder}/${directory}`, { recursive: true })
  for (const { code, language, line } of blocksOf(page)) {
    if (!["ts", "tsx", "typescript"].includes(language)) continue
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

const { status, stdout } = spawnSync(
  process.execPath,
  [`${root}/node_modules/typescript/bin/tsc`, "--noEmit", "--pretty", "false", "-p", folder],
  { cwd: root, encoding: "utf8" }
)
console.log(stdout.replaceAll(/^\.cache\/readmes\/([^(]+)/gm, (_, name) => origins.get(name) ?? name))
process.exitCode = status === 0 ? 0 : 1
