import { existsSync, readFileSync } from "node:fs"
import ts from "typescript"

/**
 * The other body of what cannot be written by a rule: a file beside the codemod, at the same path as the one in the
 * source. Each of its declarations takes the place of the one of the same name there; what it needs besides, and does not
 * export, comes along with the next one.
 */
export interface Seam {
  readonly imports: ReadonlyArray<ts.ImportDeclaration>
  /** What stands in the place of a statement of the source, if this seam has it. */
  readonly bodyOf: (statement: ts.Statement) => string | undefined
  /** Fails if a declaration of the seam is in the source no more. */
  readonly checkUsed: (path: string) => void
}

/** A name, and whether it is that of a type: a value and a type may share one. */
const keysOf = (statement: ts.Statement): ReadonlyArray<string> => {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => `value ${name.getText()}`)
  }
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
    return [`value ${statement.name?.text}`]
  }
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
    return [`type ${statement.name.text}`]
  }
  return []
}

const parsed = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2022, true)

const none: Seam = { imports: [], bodyOf: () => undefined, checkUsed: () => undefined }

export const seamOf = (path: string | undefined): Seam => {
  if (path === undefined || !existsSync(path)) return none
  const file = parsed(path)
  const imports = file.statements.filter((one) => ts.isImportDeclaration(one))
  const others = file.statements.filter((one) => !ts.isImportDeclaration(one))
  const used = new Set<ts.Statement>()
  return {
    imports,
    bodyOf: (statement) => {
      const [key] = keysOf(statement)
      const at = key === undefined ? -1 : others.findIndex((one) => keysOf(one).includes(key))
      if (at < 0) return undefined
      const found = others[at]
      if (found === undefined) return undefined
      used.add(found)
      const before: Array<ts.Statement> = []
      for (let index = at - 1; index >= 0; index--) {
        const one = others[index]
        if (one === undefined || isExported(one) || used.has(one)) break
        const isOwn = keysOf(one).some((key) => statementsOf(statement).some((other) => keysOf(other).includes(key)))
        if (isOwn) break
        used.add(one)
        before.unshift(one)
      }
      return [...before, found].map((one) => one.getText()).join("\n\n")
    },
    checkUsed: (source) => {
      const left = others.filter((one) => !used.has(one))
      if (left.length > 0) {
        throw new Error(`${path}: ${left.flatMap(keysOf).join(", ")} is not declared in ${source}`)
      }
    }
  }
}

const statementsOf = (statement: ts.Statement): ReadonlyArray<ts.Statement> => statement.getSourceFile().statements

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
