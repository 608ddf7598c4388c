// Compiles every `@example` of the packages and every ts block of the READMEs, against src, as a user's program would be.
// Each block becomes a file whose line numbers are those of the place it was taken from.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { packages, root } from "./packages.mjs"

const folder = `${root}/.cache/examples`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const sources = [
  ...["", ...packages.map(({ directory }) => `packages/${directory}/`)].map((path) => `${path}README.md`)
    .filter((file) => existsSync(`${root}/${file}`)),
  ...packages.filter(({ path, published }) => published && existsSync(`${path}/src`)).flatMap(({ directory, path }) =>
    readdirSync(`${path}/src`, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => `packages/${directory}/src/${file}`)
  )
]

/** @type {Map<string, string>} from the extracted file's name to the source's */
const origins = new Map()

for (const source of sources) {
  const inComment = !source.endsWith(".md")
  /** @type {Array<string> | undefined} */
  let block
  let inExample = !inComment
  readFileSync(`${root}/${source}`, "utf8").split("\n").forEach((raw, index) => {
    const line = inComment ? raw.replace(/^\s*\* ?/, "") : raw
    if (inComment && block === undefined && /^@|^\/$/.test(line)) inExample = line.startsWith("@example")
    if (block === undefined) {
      if (inExample && /^```(?:ts|tsx|typescript)\b/.test(line)) block = Array(index + 1).fill("")
    } else if (line.startsWith("```")) {
      const name = `${source.replace(/\.(?:ts|tsx|md)$/, "").replaceAll(/[/\\]/g, "-")}-${index + 1}.ts`
      writeFileSync(`${folder}/${name}`, `${block.join("\n")}\n`)
      origins.set(name, source)
      block = undefined
    } else {
      block.push(line)
    }
  })
}

writeFileSync(
  `${folder}/tsconfig.json`,
  JSON.stringify({ extends: "../../tsconfig.json", compilerOptions: { noUnusedLocals: false }, include: ["*.ts"] })
)

if (origins.size > 0) {
  const { status, stdout } = spawnSync(
    process.execPath,
    [`${root}/node_modules/typescript/bin/tsc`, "--noEmit", "--pretty", "false", "-p", folder],
    { cwd: root, encoding: "utf8" }
  )
  console.log(stdout.replaceAll(/^\.cache\/examples\/([^(]+)/gm, (_, name) => origins.get(name) ?? name))
  process.exitCode = status === 0 ? 0 : 1
}
console.log(`${origins.size} examples compiled`)
