import { readdirSync, readFileSync } from "node:fs"
import ts from "typescript"

/** @param {ts.Node} node */
const isInternal = (node) => ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal")

/** @param {ts.Node} node */
const isExported = (node) =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

/** @param {ts.EntityName} name @returns {string} */
const firstOf = (name) => ts.isIdentifier(name) ? name.text : firstOf(name.left)

/** Rooms are closed in exports, and have names in lower case. @param {string} specifier */
const isClosed = (specifier) => /^\.\/[a-z]+\//.test(specifier)

/** @param {ts.ImportDeclaration} declaration */
const importedBy = ({ importClause }) => {
  const bindings = importClause?.namedBindings
  if (bindings === undefined) return []
  return ts.isNamespaceImport(bindings) ? [bindings.name.text] : bindings.elements.map(({ name }) => name.text)
}

/** @param {string} file */
const unnameableIn = (file) => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const hidden = new Set(source.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)) {
      return isClosed(statement.moduleSpecifier.text) ? importedBy(statement) : []
    }
    return ts.isInterfaceDeclaration(statement) && !isExported(statement) ? [statement.name.text] : []
  }))
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) continue
    if (!ts.isNamedExports(statement.exportClause)) continue
    for (const { name, propertyName } of statement.exportClause.elements) hidden.delete((propertyName ?? name).text)
  }
  /** @type {Set<string>} */
  const named = new Set()
  /** @param {ts.Node} node */
  const look = (node) => {
    // what an interface or a class inherits is its own: the compiler does not name where it comes from
    if (ts.isHeritageClause(node) || isInternal(node)) return
    if (ts.isTypeReferenceNode(node) && hidden.has(firstOf(node.typeName))) named.add(node.typeName.getText())
    if (ts.isTypeQueryNode(node) && hidden.has(firstOf(node.exprName))) named.add(node.exprName.getText())
    if (ts.isImportTypeNode(node) && isClosed(node.argument.getText().slice(1, -1))) named.add(node.getText())
    ts.forEachChild(node, look)
  }
  source.statements
    .filter((statement) => !ts.isInterfaceDeclaration(statement) || isExported(statement))
    .forEach(look)
  return [...named]
}

/**
 * The types that the public declarations of a built package mention and that nobody can import: from `internal/`, or not
 * exported at all. A program that infers one cannot write it into its own declarations. Those that mention `internal/`
 * compile nevertheless, and whoever reads them has `any` there.
 *
 * @param {string} path of the package
 * @returns {ReadonlyArray<string>}
 */
export const unnameable = (path) =>
  readdirSync(`${path}/dist`)
    .filter((file) => file.endsWith(".d.ts"))
    .flatMap((file) => unnameableIn(`${path}/dist/${file}`).map((name) => `${name} in ${file}`))
