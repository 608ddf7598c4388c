// Counts what ARCHITECTURE.md measures of the core: its doors, what they export, its lines, and the modules that the two walks
// through an upload name.
import { readdirSync, readFileSync } from "node:fs"
import ts from "typescript"
import { root } from "../../../.ci/packages.mjs"

const src = `${root}/packages/core/src`
const modules = readdirSync(src, { encoding: "utf8", recursive: true })
  .filter((file) => file.endsWith(".ts") && file !== "index.ts")
const doors = modules.filter((file) => /^\w+\.ts$/.test(file)).map((file) => `${src}/${file}`)

const { compilerOptions } = ts.readConfigFile(`${root}/tsconfig.base.json`, ts.sys.readFile).config
const program = ts.createProgram(doors, {
  ...ts.convertCompilerOptionsFromJson(compilerOptions, root).options,
  noEmit: true
})
const checker = program.getTypeChecker()
const symbols = doors.flatMap((file) => {
  const source = program.getSourceFile(file)
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
  return module === undefined
    ? []
    : checker.getExportsOfModule(module).filter((one) =>
      !one.getJsDocTags(checker).some(({ name }) => name === "internal")
    )
})

const text = readFileSync(`${root}/.github/ARCHITECTURE.md`, "utf8")
/** @param {string} heading */
const named = (heading) => {
  const section = text.slice(text.indexOf(`## ${heading}`)).split("\n## ")[0] ?? ""
  const names = new Set([...section.matchAll(/`([\w/]+)`/g)].map(([, name]) => `${name}.ts`))
  return modules.filter((file) => names.has(file)).length
}

const lines = modules.reduce((sum, file) => sum + readFileSync(`${src}/${file}`, "utf8").split("\n").length - 1, 0)

console.log(`doors ${doors.length}`)
console.log(`symbols of the doors ${symbols.length}`)
console.log(`rooms ${new Set(modules.filter((file) => file.includes("/")).map((file) => file.split("/")[0])).size}`)
console.log(`lines ${lines}`)
console.log(`modules that the walk of a part names ${named("The walk of a part")}`)
console.log(`modules that the walk of a small file names ${named("The walk of a small file")}`)
