import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as CompileCache from "./compileCache.js"
import * as CompiledScript from "./compiledScript.js"

// Those that load packages a user has beside this one, by `scripts/bundle.mjs`. Those packages share the modules of this one
// only where none of them is inside of the script.
declare const commandsOfModules: ReadonlyArray<string>
declare const commandNames: ReadonlyArray<string>

const words = process.argv.slice(2)
const [first = ""] = words
const isOfModules = (word: string) => commandsOfModules.includes(word)

// an option may stand before its command, with a value between them
if (first.startsWith("-") ? words.some(isOfModules) : isOfModules(first)) {
  void import(new URL("../bin.js", import.meta.url).href)
} else {
  // Each command has its own cache: code for uploads is of no use to a list.
  const command = commandNames.find((name) => words.includes(name)) ?? "help"
  const directory = process.env.NODE_DISABLE_COMPILE_CACHE === undefined ? CompileCache.prepare() : undefined
  CompiledScript.run(
    fileURLToPath(new URL("bin.cjs", import.meta.url)),
    directory && join(directory, `${command}-${process.version}-${process.arch}`)
  )
}
