import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"

/** @param {ts.Node} node */
const isInternal = (node) => ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal")

/** @param {ts.Node} node */
const isExported = (node) =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

/** @param {ts.EntityName} name @returns {string} */
const firstOf = (name) => ts.isIdentifier(name) ? name.text : firstOf(name.left)

/** Rooms are closed in exports but for `parts`, and have names in lower case. @param {string} specifier */
const isClosed = (specifier) => /^\.\.?\/(?!parts\/)[a-z]+\//.test(specifier)

/** What a module exports under its own names. @param {string} file @returns {ReadonlyArray<string>} */
const exportedBy = (file) =>
  ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) && statement.exportClause !== undefined &&
      ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : !isExported(statement)
      ? []
      : ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.map(({ name }) => name.getText())
      : [/** @type {ts.DeclarationStatement} */ (statement).name?.getText() ?? ""]
  )

/** @param {ts.ImportDeclaration} declaration */
const importedBy = ({ importClause }) => {
  const bindings = importClause?.namedBindings
  if (bindings === undefined) return []
  return ts.isNamespaceImport(bindings) ? [bindings.name.text] : bindings.elements.map(({ name }) => name.text)
}

/**
 * The names by which a package's doors export what stands in a closed room.
 *
 * @param {string} file
 */
const openedBy = (file) =>
  ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined
      && ts.isStringLiteral(statement.moduleSpecifier) && isClosed(statement.moduleSpecifier.text)
      ? statement.exportClause === undefined
        ? exportedBy(join(dirname(file), statement.moduleSpecifier.text.replace(/[.]js$/, ".d.ts")))
        : ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
        : []
      : []
  )

/** @param {ts.EntityName} name the name in the room: of `X.Y.Z`, X is the room and Y the name @returns {string} */
const nameIn = (name) =>
  ts.isIdentifier(name) ? name.text : ts.isIdentifier(name.left) ? name.right.text : nameIn(name.left)

/** @param {string} file @param {ReadonlySet<string>} opened by a door of the package */
const unnameableIn = (file, opened) => {
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
    /** @param {ts.EntityName} name */
    const isHidden = (name) => hidden.has(firstOf(name)) && !opened.has(nameIn(name))
    if (ts.isTypeReferenceNode(node) && isHidden(node.typeName)) named.add(node.typeName.getText())
    if (ts.isTypeQueryNode(node) && isHidden(node.exprName)) named.add(node.exprName.getText())
    if (
      ts.isImportTypeNode(node) && isClosed(node.argument.getText().slice(1, -1))
      && (node.qualifier === undefined || !opened.has(nameIn(node.qualifier)))
    ) named.add(node.getText())
    ts.forEachChild(node, look)
  }
  source.statements
    .filter((statement) => !ts.isInterfaceDeclaration(statement) || isExported(statement))
    .forEach(look)
  return [...named]
}

/**
 * The types that the public declarations of a built package mention and that nobody can import: from a closed room and
 * opened by no door, or not exported at all. A program that infers one cannot write it into its own declarations. Those that mention a room
 * compile nevertheless, and whoever reads them has `any` there.
 *
 * @param {string} path of the package
 * @returns {ReadonlyArray<string>}
 */
export const unnameable = (path) => {
  const files = readdirSync(`${path}/dist`, { recursive: true, encoding: "utf8" })
    .filter((file) => /^(?:parts\/)?[^/]+[.]d[.]ts$/.test(file))
  const opened = new Set(files.flatMap((file) => openedBy(`${path}/dist/${file}`)))
  return files.flatMap((file) => unnameableIn(`${path}/dist/${file}`, opened).map((name) => `${name} in ${file}`))
}
