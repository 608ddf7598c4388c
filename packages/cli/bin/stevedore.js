#!/usr/bin/env node
// npm links a command at install, before anything is built: this file is always there to link to
import { existsSync } from "node:fs"
import * as module from "node:module"

const fileOf = (path) => new URL(`../dist/${path}`, import.meta.url)
const built = fileOf("bundle/bin.js")

if (existsSync(built)) {
  // from Node 22.1 on: the second start does not compile again
  if (module.enableCompileCache !== undefined) {
    const { prepare } = await import(fileOf("internal/compileCache.js").href)
    const directory = prepare()
    if (directory !== undefined) module.enableCompileCache(directory)
  }
  await import(built.href)
} else {
  console.error("stevedore is not built yet: run \"npm run build\" at the repository's root, then try again.")
  process.exitCode = 1
}
