// Checks what would be published: publint and attw on every package, and that every public module can be imported by
// the name its users write.
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { packages, root } from "./packages.mjs"

let failures = 0

/** @param {string} what @param {string} command @param {ReadonlyArray<string>} args */
const run = (what, command, args) => {
  const { status, stderr, stdout } = spawnSync(`${root}/node_modules/.bin/${command}`, args, {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32"
  })
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${what}`)
  if (status !== 0) {
    failures++
    console.log(stdout + stderr)
  }
}

for (const { name, path, published } of packages) {
  if (!published) continue
  if (!existsSync(`${path}/dist`)) {
    failures++
    console.log(`FAIL ${name}: no dist`)
    continue
  }
  const modules = readdirSync(`${path}/dist`)
    .filter((file) => file.endsWith(".js"))
    .map((file) => file.slice(0, -3))
    .filter((module) => module !== "bin" && module !== "index")
  run(`${name}: publint`, "publint", ["run", "--strict", path])
  run(`${name}: attw`, "attw", [
    "--pack",
    path,
    "--profile",
    "esm-only",
    "--format",
    "ascii",
    "--entrypoints",
    ".",
    ...modules
  ])
  const specifiers = [name, ...modules.map((module) => `${name}/${module}`)]
  /** @type {Array<string>} */
  const broken = []
  for (const specifier of specifiers) {
    await import(specifier).catch((error) => broken.push(`${specifier}\n${error.stack}`))
  }
  failures += broken.length
  console.log(
    broken.length === 0 ? `ok   ${name}: ${specifiers.length} modules imported` : `FAIL import ${broken.join("\n")}`
  )
}

process.exitCode = failures === 0 ? 0 : 1
