import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { summaries } from "./commands.js"
import * as CompileCache from "./compileCache.js"
import * as CompiledScript from "./compiledScript.js"

// Each command has its own cache: code for uploads is of no use to a list.
const command = Object.keys(summaries).find((name) => process.argv.includes(name)) ?? "help"
const directory = process.env.NODE_DISABLE_COMPILE_CACHE === undefined ? CompileCache.prepare() : undefined

// Jobs and the service are of other packages, which share the modules of this one only where none of them is inside of the
// script
if (["bulk", "serve"].some((name) => process.argv.includes(name))) {
  void import(new URL("../bin.js", import.meta.url).href)
} else {
  CompiledScript.run(
    fileURLToPath(new URL("bin.cjs", import.meta.url)),
    directory && join(directory, `${command}-${process.version}-${process.arch}`)
  )
}
