#!/usr/bin/env node
"use strict"
// npm links a command at install, before anything is built: this file is always there to link to. It is CommonJS, as all
// that it starts: a process that has no ES module in it is up 10 ms earlier.
const { existsSync } = require("node:fs")
const { join } = require("node:path")

const built = join(__dirname, "../dist/bundle/start.cjs")

if (existsSync(built)) {
  require(built)
} else {
  console.error("stevedore is not built yet: run \"npm run build\" at the repository's root, then try again.")
  process.exitCode = 1
}
