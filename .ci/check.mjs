// Runs every check, two at a time, and prints the output of those that fail. `npm run check -- lint docs` runs only those.
import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { root } from "./packages.mjs"

const bin = `${root}/node_modules/.bin`

/** The slow ones first. @type {ReadonlyArray<readonly [name: string, command: string, args: ReadonlyArray<string>]>} */
const checks = [
  ["types", process.execPath, [".ci/check-types.mjs"]],
  ["docs", process.execPath, [".ci/check-docs.mjs"]],
  ["lint", `${bin}/eslint`, [".", "--max-warnings", "0"]],
  ["imports", `${bin}/depcruise`, ["packages", "--output-type", "err"]],
  ["workflows", process.execPath, [".ci/check-workflows.mjs"]],
  ["hygiene", process.execPath, [".ci/check-hygiene.mjs"]]
]

const wishes = process.argv.slice(2)
const unknown = wishes.filter((wish) => !checks.some(([name]) => name === wish))
if (unknown.length > 0) {
  console.error(`No check is called ${unknown.join(", ")}. There are: ${checks.map(([name]) => name).join(", ")}`)
  process.exit(2)
}

mkdirSync(`${root}/.cache`, { recursive: true })
const queue = checks.filter(([name]) => wishes.length === 0 || wishes.includes(name))
/** @type {Array<string>} */
const failed = []

/** @param {typeof checks[number]} check */
const run = ([name, command, args]) =>
  new Promise((resolve) => {
    const start = performance.now()
    const child = spawn(command, args, { cwd: root, shell: process.platform === "win32" })
    let output = ""
    child.stdout.on("data", (chunk) => output += chunk)
    child.stderr.on("data", (chunk) => output += chunk)
    child.on("error", (error) => output += error.message)
    child.on("close", (code) => {
      console.log(`${code === 0 ? "ok  " : "FAIL"} ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
      if (code !== 0) {
        failed.push(name)
        console.log(output)
      }
      resolve(undefined)
    })
  })

const worker = async () => {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) await run(check)
}
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))

if (failed.length > 0) console.log(`Failed: ${failed.join(", ")}`)
process.exitCode = failed.length === 0 ? 0 : 1
