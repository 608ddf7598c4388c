// Runs docgen over every published package. It reads package.json and docgen.json from the folder it runs in and insists
// on a homepage, so each package gets such a folder of its own under .cache/docs; the pages land there too.
// Examples are compiled by .ci/check-examples.mjs: docgen would also run them, and some of them start programs.
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { packages, root } from "./packages.mjs"

/** @param {import("./packages.mjs").WorkspacePackage} workspace */
const document = ({ directory, name }) =>
  new Promise((resolve) => {
    const folder = `${root}/.cache/docs/${directory}`
    const srcDir = `../../../packages/${directory}/src`
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/package.json`, JSON.stringify({ name, homepage: "README.md" }))
    writeFileSync(
      `${folder}/docgen.json`,
      JSON.stringify({ srcDir, exclude: [`${srcDir}/internal/**/*.ts`, `${srcDir}/bin.ts`], outDir: "pages" })
    )
    const docgen = spawn(process.execPath, [`${root}/node_modules/@effect/docgen/bin.cjs`, "--no-run-examples"], {
      cwd: folder
    })
    let output = ""
    docgen.stdout.on("data", (chunk) => output += chunk)
    docgen.stderr.on("data", (chunk) => output += chunk)
    docgen.on("close", (code) => {
      if (code !== 0) console.log(`${name}\n${output.replaceAll("../../../", "")}`)
      resolve(code === 0)
    })
  })

const results = []
for (const workspace of packages) {
  if (workspace.published && existsSync(`${workspace.path}/src`)) results.push(await document(workspace))
}
process.exitCode = results.every(Boolean) ? 0 : 1
