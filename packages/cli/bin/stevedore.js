#!/usr/bin/env node
// npm links a command at install, before anything is built: this file is always there to link to
import { existsSync } from "node:fs"
import * as module from "node:module"

const built = new URL("../dist/bundle/bin.js", import.meta.url)

if (existsSync(built)) {
  // from Node 22.1 on: the second start does not compile again
  module.enableCompileCache?.()
  await import(built.href)
} else {
  console.error("stevedore is not built yet: run \"npm run build\" at the repository's root, then try again.")
  process.exitCode = 1
}
