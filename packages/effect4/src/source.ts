import ts from "typescript"

/**
 * What a name in the source stands for in Effect 3: `effect/Effect.map` is a member of a module, and
 * `effect/Clock.Clock#unsafeCurrentTimeMillis` one of a value that such a module makes.
 */
export type Member = string

const published = /node_modules\/(effect|@effect\/[^/]+)\/(?:dist\/dts|src)\/(.+?)\.(?:d\.)?ts$/

/** The module of Effect 3 that a file of its types belongs to, such as `effect/Effect`. */
const moduleOfFile = (path: string): string | undefined => {
  const found = published.exec(path)
  return found === null ? undefined : `${found[1]}/${found[2]}`
}

const resolved = (checker: ts.TypeChecker, symbol: ts.Symbol | undefined): ts.Symbol | undefined =>
  symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol

/** The module of Effect that an identifier is the namespace of, however it was imported. */
export const namespaceOf = (checker: ts.TypeChecker, node: ts.Node): string | undefined => {
  if (!ts.isIdentifier(node)) return undefined
  const declaration = resolved(checker, checker.getSymbolAtLocation(node))?.declarations?.[0]
  return declaration !== undefined && ts.isSourceFile(declaration) ? moduleOfFile(declaration.fileName) : undefined
}

/** The two halves of `Effect.map`, be it a value or a type. */
export const halves = (node: ts.Node): { readonly left: ts.Node; readonly right: ts.Identifier } | undefined =>
  ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.name)
    ? { left: node.expression, right: node.name }
    : ts.isQualifiedName(node)
    ? { left: node.left, right: node.right }
    : undefined

const nameOfParent = (declaration: ts.Declaration): string => {
  const { parent } = declaration
  return ts.isInterfaceDeclaration(parent) || ts.isClassDeclaration(parent) ? parent.name?.text ?? "" : ""
}

/** The member that a property was declared as, if Effect declared it. */
export const propertyOf = (symbol: ts.Symbol | undefined): Member | undefined => {
  const declaration = symbol?.declarations?.[0]
  const module = declaration && moduleOfFile(declaration.getSourceFile().fileName)
  if (symbol === undefined || declaration === undefined || module === undefined) return undefined
  return `${module}.${nameOfParent(declaration)}#${symbol.name}`
}

/** The member of Effect that is named here, whether by its module or on a value. */
export const memberOf = (checker: ts.TypeChecker, node: ts.Node): Member | undefined => {
  const both = halves(node)
  if (both === undefined) return undefined
  const module = namespaceOf(checker, both.left)
  return module === undefined
    ? propertyOf(checker.getSymbolAtLocation(both.right))
    : `${module}.${both.right.text}`
}

/** The name of the type in Effect 3, such as `effect/Either.Either`; of a union, that of its alias. */
export const typeName = (type: ts.Type): string | undefined => {
  const symbol = type.aliasSymbol ?? type.getSymbol()
  const declaration = symbol?.declarations?.[0]
  const module = declaration && moduleOfFile(declaration.getSourceFile().fileName)
  return symbol === undefined || module === undefined ? undefined : `${module}.${symbol.name}`
}

const eithers = new Set(["effect/Either.Either", "effect/Either.Left", "effect/Either.Right"])

/** Whether a type is Either, or a union of Eithers. */
export const isEither = (type: ts.Type): boolean => {
  const name = typeName(type)
  return name !== undefined ? eithers.has(name) : type.isUnion() && type.types.every(isEither)
}

/** Where in the source something stands, to be read and clicked. */
export const placeOf = (node: ts.Node, root: string): string => {
  const file = node.getSourceFile()
  const { line } = file.getLineAndCharacterOfPosition(node.getStart())
  return `${file.fileName.replace(`${root}/`, "")}:${line + 1}`
}
