import ts from "typescript"
import { importOf, members, moduleNames } from "./members.js"
import { rewrites } from "./rewrites.js"
import type { Rendering } from "./rule.js"
import type { Seam } from "./seams.js"
import { referenceOf, shapeOf } from "./shapes.js"
import { halves, isEither, memberOf, namespaceOf, placeOf, propertyOf, typeName } from "./source.js"

/** What a name of a module is in a file of the new line: `Result` for `effect/Result`. */
export const lastName = (module: string): string => {
  const name = module.slice(module.lastIndexOf("/") + 1)
  return name === "Array" ? "Arr" : name
}

const spans = (node: ts.Node): ReadonlyArray<ts.Node> => {
  const children: Array<ts.Node> = []
  ts.forEachChild(node, (child) => {
    children.push(child)
  })
  return children
}

/** The text of a file between two places, with what stands there put in the place of nodes. */
export const withReplaced = (
  text: string,
  from: number,
  to: number,
  parts: ReadonlyArray<{ readonly from: number; readonly to: number; readonly text: string }>
): string => {
  let result = ""
  let at = from
  for (const part of parts) {
    result += text.slice(at, part.from) + part.text
    at = part.to
  }
  return result + text.slice(at, to)
}

/** A call or name that Effect 4 does not have, or that nobody has looked at: the table has no row for it. */
export interface Unlisted {
  readonly place: string
  readonly member: string
}

// an Either is an Effect on 3; on 4 it is made into one
const becomesEffect = (checker: ts.TypeChecker, node: ts.Node): boolean => {
  if (
    !ts.isExpression(node) ||
    ts.isIdentifier(node) && ts.isPropertyAccessExpression(node.parent) && node.parent.name === node
  ) return false
  const { parent } = node
  if (ts.isYieldExpression(parent) && parent.asteriskToken !== undefined) {
    return isEither(checker.getTypeAtLocation(node)) && generatorOf(checker, parent) === "effect/Effect.gen"
  }
  if (ts.isParenthesizedExpression(parent) || ts.isConditionalExpression(node) || ts.isParenthesizedExpression(node)) {
    return false
  }
  if (isInIssues(checker, node)) return false
  const wanted = checker.getContextualType(node)
  if (wanted === undefined || !wantsEffect(wanted)) return false
  return isEither(checker.getTypeAtLocation(node))
}

// what a Schema transforms with is an Effect on 4 as it stands
const isInIssues = (checker: ts.TypeChecker, node: ts.Node): boolean => {
  for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isCallExpression(at) && memberOf(checker, at.expression) === "effect/Schema.transformOrFail") return true
  }
  return false
}

const wantsEffect = (type: ts.Type): boolean =>
  type.isUnion() ? type.types.every(wantsEffect) : typeName(type) === "effect/Effect.Effect"

const generatorOf = (checker: ts.TypeChecker, node: ts.Node): string | undefined => {
  let at: ts.Node = node
  while (!ts.isFunctionExpression(at) || at.asteriskToken === undefined) {
    if (at.parent === undefined || ts.isSourceFile(at)) return undefined
    at = at.parent
  }
  return ts.isCallExpression(at.parent) ? memberOf(checker, at.parent.expression) : undefined
}

/** Whether a type is what a tag stands for: `Uploads["Type"]`. */
const isShapeOfTag = (checker: ts.TypeChecker, { indexType, objectType }: ts.IndexedAccessTypeNode): boolean =>
  ts.isLiteralTypeNode(indexType) && ts.isStringLiteral(indexType.literal) && indexType.literal.text === "Type" &&
  propertyOf(checker.getTypeAtLocation(objectType).getProperty("Type"))?.startsWith("effect/Context.") === true

/** The two words that a tag of Either is compared with. */
const tags: Readonly<Record<string, string>> = { Left: "Failure", Right: "Success" }

const isTagOfEither = (checker: ts.TypeChecker, node: ts.Node): boolean =>
  memberOf(checker, node)?.startsWith("effect/Either.") === true && node.getText().endsWith("._tag")

/** Writes nodes of one file for Effect 4: by its seam, or else by rules. What has no row in the table is told. */
export const rendering = (
  checker: ts.TypeChecker,
  root: string,
  { bodyOf }: Seam,
  need: (module: string) => string,
  unlisted: (one: Unlisted) => void
): Rendering => {
  const renderInside = (node: ts.Node): string => {
    const file = node.getSourceFile()
    return withReplaced(
      file.text,
      node.getStart(),
      node.getEnd(),
      spans(node).map((child) => ({ from: child.getStart(), to: child.getEnd(), text: render(child) }))
    )
  }

  const named = (node: ts.Node): string | undefined => {
    const member = memberOf(checker, node)
    const both = halves(node)
    if (member === undefined || both === undefined) return undefined
    const row = members.get(member)
    if (row === undefined) {
      unlisted({ place: placeOf(node, root), member })
      return undefined
    }
    const module = namespaceOf(checker, both.left)
    const left = module === undefined ? render(both.left) : localName(both.left, module)
    if (row.kind === "elsewhere") return `${need(row.module)}.${row.name}`
    const between = node.getSourceFile().text.slice(both.left.getEnd(), both.right.getStart())
    return left + between + (row.kind === "renamed" ? row.name : both.right.text)
  }

  const localName = (node: ts.Node, module: string): string => {
    const renamed = moduleNames.get(module)
    return renamed === undefined || !renamed.includes("/") || node.getText() !== lastName(module)
      ? node.getText()
      : need(renamed)
  }

  const plain = (node: ts.Node): string => {
    if (ts.isStringLiteral(node) && tags[node.text] !== undefined) {
      const { parent } = node
      const beside = ts.isBinaryExpression(parent)
        ? [parent.left, parent.right]
        : ts.isCallExpression(parent)
        ? parent.arguments
        : []
      if (beside.some((one) => isTagOfEither(checker, one))) return JSON.stringify(tags[node.text])
    }
    if (ts.isBindingElement(node)) {
      const member = bound(checker, node)
      const row = member === undefined ? undefined : members.get(member)
      if (member !== undefined && row === undefined) unlisted({ place: placeOf(node, root), member })
      if (row?.kind === "renamed" && ts.isIdentifier(node.name)) return `${row.name}: ${node.name.text}`
    }
    if (ts.isIdentifier(node) && !ts.isImportSpecifier(node.parent)) {
      const member = importOf(checker, node)
      const row = member === undefined ? undefined : members.get(member)
      if (member !== undefined && row === undefined) unlisted({ place: placeOf(node, root), member })
    }
    return named(node) ?? renderInside(node)
  }

  const ruled = (node: ts.Node): string | undefined => {
    const reference = referenceOf(node, self) ?? shapeOf(node, self)
    if (reference !== undefined) return reference
    if (ts.isIndexedAccessTypeNode(node) && isShapeOfTag(checker, node)) return `${render(node.objectType)}["Service"]`
    const subject = ts.isCallExpression(node) || ts.isNewExpression(node)
      ? node.expression
      : ts.isTypeReferenceNode(node)
      ? node.typeName
      : node
    const inner = ts.isCallExpression(subject) ? subject.expression : subject
    for (const one of [subject, inner]) {
      const member = memberOf(checker, one)
      const rule = member === undefined ? undefined : rewrites.get(member)
      const result = rule?.(node, self)
      if (result !== undefined) return result
    }
    return undefined
  }

  const render = (node: ts.Node): string => {
    const text = bodyOf(node) ?? ruled(node) ?? plain(node)
    return becomesEffect(checker, node) ? `${need("effect/Effect")}.fromResult(${text})` : text
  }

  const self: Rendering = { checker, render, renderInside, need }
  return self
}

const bound = (checker: ts.TypeChecker, node: ts.BindingElement): string | undefined => {
  if (!ts.isObjectBindingPattern(node.parent) || node.dotDotDotToken !== undefined) return undefined
  const name = node.propertyName ?? node.name
  return ts.isIdentifier(name)
    ? propertyOf(checker.getTypeAtLocation(node.parent).getProperty(name.text))
    : undefined
}
