// Makes one script of the command and all that it needs, of which each of its commands runs its own share: a start then reads
// 1 file instead of some 400. CommonJS, since of that V8's work can be kept on every supported Node. Not minified: that is no
// faster, and a fault could not be read.
import { build } from "esbuild"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { beside } from "./beside.mjs"

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const outdir = path("../dist/bundle")

// Each package that has zod may have a copy of its own: all take that of one
const oneZod = {
  name: "one-zod",
  setup: ({ onResolve, resolve }) => {
    const resolveDir = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/server"))
    onResolve(
      { filter: /^zod(\/|$)/ },
      ({ kind, path, resolveDir: from }) => from === resolveDir ? undefined : resolve(path, { kind, resolveDir })
    )
  }
}

const settings = {
  absWorkingDir: path("../../.."),
  outdir,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  metafile: true,
  logLevel: "warning",
  external: beside,
  plugins: [oneZod],
  // a directive counts at the very top only
  banner: { js: "\"use strict\"; const urlOfThis = require('node:url').pathToFileURL(__filename).href;" }
}

const script = await build({
  ...settings,
  entryPoints: { bin: path("../dist/bin.js") },
  define: { "import.meta.url": "urlOfThis" }
})

// It is read as latin1, in a fifth of the time. What esbuild leaves as it is stands in comments and regular expressions.
const written = path("../dist/bundle/bin.cjs")
writeFileSync(
  written,
  readFileSync(written, "utf8").replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
)

const isBeside = (specifier) => beside.some((name) => specifier === name || specifier.startsWith(`${name}/`))

/** Whether a module loads what is not in the script, itself or by what it imports. */
const loadsModules = (module, seen = new Set()) => {
  if (seen.has(module)) return false
  seen.add(module)
  const found = script.metafile.inputs[module]
  if (found === undefined) throw new Error(`the script does not contain ${module}`)
  return found.imports.some(({ external, path }) => external === true ? isBeside(path) : loadsModules(path, seen))
}

// a command of such a file loads what its file loads
const { commands } = await import(path("../dist/line/commands.js"))
const commandNames = commands.map(({ name }) => name)
const files = Object.keys(script.metafile.inputs).filter((input) =>
  /\/cli\/dist\/(?!line)\w+\/\w*[cC]ommands?\.js$/.test(input)
)
const loaded = await Promise.all(
  files.filter((file) => loadsModules(file)).map((file) => import(path(`../../../${file}`)))
)
const commandsOfModules = loaded.flatMap(({ commands = {} }) => Object.keys(commands))
if (!commandsOfModules.includes("bulk")) throw new Error("what the commands load cannot be told")

const start = await build({
  ...settings,
  entryPoints: { start: path("../dist/line/start.js") },
  define: {
    "import.meta.url": "urlOfThis",
    commandNames: JSON.stringify(commandNames),
    commandsOfModules: JSON.stringify(commandsOfModules)
  }
})

// What is given away as a part of this package keeps its licence: the text of each stands beside it.
const bundled = new Set(
  [script, start].flatMap(({ metafile }) => Object.values(metafile.outputs))
    .flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => bytesInOutput > 0 ? [input] : [])
    )
    .flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [])
)

const licenceOf = (directory) => {
  const root = path(`../../../${directory}`)
  const { license, name, version } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"))
  const file = readdirSync(root).find((one) => /^licen[cs]e/i.test(one))
  if (file === undefined && license === undefined) throw new Error(`${name} has no licence that could be told`)
  return `${name} ${version}: ${license}\n\n${file === undefined ? "" : readFileSync(`${root}/${file}`, "utf8").trim()}`
}

writeFileSync(
  `${outdir}/LICENSES.txt`,
  `The files beside this one contain the packages below.\n\n${
    [...bundled].sort().map(licenceOf).join(`\n\n${"-".repeat(80)}\n\n`)
  }\n`
)
