import { readdirSync } from "node:fs"
import ts from "typescript"
import { root } from "./packages.mjs"

/** @param {ts.Symbol} symbol */
const isInternal = (symbol) => symbol.getJsDocTags().some(({ name }) => name === "internal")

/**
 * What is wrong with the declarations of built packages, from their doors on and together with the declarations of each other: what
 * an editor would offer although it is `@internal`, and what does not compile without it.
 *
 * @param {ReadonlyArray<string>} paths of the packages
 * @returns {ReadonlyArray<string>}
 */
export const internals = (paths) => {
  const doors = paths.flatMap((path) =>
    readdirSync(`${path}/dist`).filter((file) => file.endsWith(".d.ts")).map((file) => `${path}/dist/${file}`)
  )
  const { compilerOptions } = ts.readConfigFile(`${root}/tsconfig.base.json`, ts.sys.readFile).config
  const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, skipLibCheck: false }, root)
  const program = ts.createProgram(doors, { ...options, noEmit: true })
  const checker = program.getTypeChecker()
  /** @param {ts.Symbol} symbol */
  const origin = (symbol) => symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const offered = doors.flatMap((door) => {
    const source = program.getSourceFile(door)
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
    return (module === undefined ? [] : checker.getExportsOfModule(module)).flatMap((one) => {
      const members = [...origin(one).members?.values() ?? [], ...origin(one).exports?.values() ?? []]
      return [one, origin(one), ...members].filter(isInternal).map(({ name }) => `${door}: ${name} is @internal`)
    })
  })
  const broken = program.getSourceFiles().filter(({ fileName }) => paths.some((path) => fileName.startsWith(path)))
    .flatMap((file) => program.getSemanticDiagnostics(file))
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`)
  return [...new Set([...offered, ...broken])]
}
