import { existsSync, readFileSync } from "node:fs"
import ts from "typescript"

/**
 * The other body of what cannot be written by a rule: a file beside the codemod, at the same path as the one in the
 * source. Each of its declarations takes the place of the one of the same name there; what it needs besides, and does not
 * export, comes along with the next one. A class that does not say what it extends or implements has only the members
 * that differ, by the same rule.
 */
export interface Seam {
  readonly imports: ReadonlyArray<ts.ImportDeclaration>
  /** What stands in the place of a statement of the source, or of a member of a class, if this seam has it. */
  readonly bodyOf: (node: ts.Node) => string | undefined
  /** Fails if a declaration of the seam is in the source no more. */
  readonly checkUsed: (path: string) => void
}

/** A name, and whether it is that of a type: a value and a type may share one. */
const keysOf = (node: ts.Node): ReadonlyArray<string> => {
  if (ts.isVariableStatement(node)) {
    return node.declarationList.declarations.map(({ name }) => `value ${name.getText()}`)
  }
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) {
    return [`value ${node.name?.text}`]
  }
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) {
    return [`type ${node.name.text}`]
  }
  return ts.isClassElement(node) ? [`member ${node.name?.getText() ?? "constructor"}`] : []
}

const parsed = (path: string): ts.SourceFile =>
  ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2022, true)

const none: Seam = { imports: [], bodyOf: () => undefined, checkUsed: () => undefined }

const isPart = (node: ts.Node): node is ts.ClassDeclaration =>
  ts.isClassDeclaration(node) && node.heritageClauses === undefined

const named = (nodes: ReadonlyArray<ts.Node>, node: ts.Node): number => {
  const [key] = keysOf(node)
  return key === undefined ? -1 : nodes.findIndex((one) => keysOf(one).includes(key))
}

export const seamOf = (path: string | undefined): Seam => {
  if (path === undefined || !existsSync(path)) return none
  const file = parsed(path)
  const imports = file.statements.filter((one) => ts.isImportDeclaration(one))
  const others = file.statements.filter((one) => !ts.isImportDeclaration(one))
  const used = new Set<ts.Node>()
  const replaced = (node: ts.Node, siblings: ReadonlyArray<ts.Node>, ours: ReadonlyArray<ts.Node>) => {
    const at = named(ours, node)
    const found = ours[at]
    if (found === undefined || isPart(found)) return undefined
    // what replaces the body has the types of all its overloads
    if (ts.isFunctionDeclaration(node) && node.body === undefined) return ""
    used.add(found)
    const before: Array<ts.Node> = []
    for (let index = at - 1; index >= 0; index--) {
      const one = ours[index]
      if (one === undefined || isExported(one) || used.has(one) || named(siblings, one) >= 0) break
      used.add(one)
      before.unshift(one)
    }
    return [...before, found].map((one) => one.getText()).join(ts.isClassElement(found) ? "\n" : "\n\n")
  }
  return {
    imports,
    bodyOf: (node) => {
      const { parent } = node
      if (parent === undefined) return undefined
      if (ts.isSourceFile(parent)) return replaced(node, parent.statements, others)
      if (!ts.isClassDeclaration(parent) || !ts.isClassElement(node)) return undefined
      const part = others[named(others, parent)]
      return part !== undefined && isPart(part) ? replaced(node, parent.members, part.members) : undefined
    },
    checkUsed: (source) => {
      const left = others.flatMap((one): ReadonlyArray<ts.Node> => isPart(one) ? one.members : [one])
        .filter((one) => !used.has(one))
      if (left.length > 0) {
        throw new Error(`${path}: ${left.flatMap(keysOf).join(", ")} is not declared in ${source}`)
      }
    }
  }
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
