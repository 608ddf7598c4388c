// Type-checks everything as one program: src, tests, these scripts, and every ts block of the READMEs as a user's program
// that imports src. A block becomes a file whose line numbers are those of the README.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { packages, root } from "./packages.mjs"

const folder = `${root}/.cache/readmes`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

/** @type {Map<string, string>} from the extracted file's name to its README */
const origins = new Map()

for (const path of ["", ...packages.map(({ directory }) => `packages/${directory}/`)]) {
  const readme = `${path}README.md`
  if (!existsSync(`${root}/${readme}`)) continue
  const text = readFileSync(`${root}/${readme}`, "utf8")
  for (const block of text.matchAll(/^```(?:ts|typescript)\n([^]*?)^```$/gm)) {
    const before = text.slice(0, block.index).split("\n").length
    const name = `${path.replaceAll("/", "-")}README-${before}.ts`
    writeFileSync(`${folder}/${name}`, "\n".repeat(before) + block[1])
    origins.set(name, readme)
  }
}

writeFileSync(
  `${folder}/tsconfig.json`,
  JSON.stringify({
    extends: "../../tsconfig.json",
    // what is not used is found by lint, which does not read the READMEs: there a program may stand unused
    compilerOptions: { noUnusedLocals: false },
    include: [
      "*.ts",
      "../../packages/*/src",
      "../../packages/*/test",
      "../../vitest.config.ts",
      "../../vitest.workspace.ts",
      "../../.ci/*.mjs"
    ]
  })
)

const { status, stdout } = spawnSync(
  process.execPath,
  [`${root}/node_modules/typescript/bin/tsc`, "--noEmit", "--pretty", "false", "-p", folder],
  { cwd: root, encoding: "utf8" }
)
console.log(stdout.replaceAll(/^\.cache\/readmes\/([^(]+)/gm, (_, name) => origins.get(name) ?? name))
process.exitCode = status === 0 ? 0 : 1
