import { readFileSync } from "node:fs"
import ts from "typescript"

/** One change of one place: what stands there, and what would stand there instead. */
export interface Mutant {
  /** Path from the repository's root. */
  readonly file: string
  readonly start: number
  readonly end: number
  readonly line: number
  readonly kind: "expression" | "statement"
  readonly text: string
  readonly instead: string
}

const operators = new Map([
  ["===", "!=="],
  ["!==", "==="],
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["&&", "||"],
  ["||", "&&"],
  ["+", "-"],
  ["-", "+"],
  ["*", "/"]
])

const wrappers = new Set([
  "ensuring",
  "onExit",
  "onInterrupt",
  "onError",
  "catchAll",
  "catchTag",
  "catchTags",
  "catchIf",
  "tapError",
  "retry",
  "timeout",
  "timeoutFail",
  "withSpan",
  "interruptible",
  "uninterruptible"
])

const isLiteralInPlace = ({ parent }: ts.Node): boolean =>
  !ts.isLiteralTypeNode(parent) && !ts.isImportDeclaration(parent) && !ts.isExportDeclaration(parent) &&
  !ts.isExpressionStatement(parent) && !ts.isExternalModuleReference(parent) &&
  !((ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && ts.isStringLiteral(parent.name))

/** What may stand instead of an expression, if this is one whose change a test should notice. */
const insteadOf = (node: ts.Node, text: (one: ts.Node) => string): string | undefined => {
  if (ts.isBinaryExpression(node)) {
    const sign = node.operatorToken.getText()
    if (sign === "??") return text(node.left)
    const other = operators.get(sign)
    return other && `${text(node.left)} ${other} ${text(node.right)}`
  }
  if ((ts.isIfStatement(node.parent) || ts.isConditionalExpression(node.parent)) && ts.isExpression(node)) {
    const { parent } = node
    const condition = ts.isIfStatement(parent) ? parent.expression : parent.condition
    if (condition === node) return `!(${text(node)})`
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const isInPipe = ts.isCallExpression(node.parent) && /\bpipe$/.test(text(node.parent.expression)) &&
      node.parent.arguments.some((one) => one === node)
    return isInPipe && wrappers.has(node.expression.name.text) ? "((self) => self)" : undefined
  }
  if (!isLiteralInPlace(node)) return undefined
  if (node.kind === ts.SyntaxKind.TrueKeyword) return "false"
  if (node.kind === ts.SyntaxKind.FalseKeyword) return "true"
  if (ts.isNumericLiteral(node)) return `(${text(node)} + 1)`
  return ts.isStringLiteral(node) && node.text !== "" ? `""` : undefined
}

/** Every mutant of a file. */
export const mutantsOf = (root: string, file: string): ReadonlyArray<Mutant> => {
  const source = ts.createSourceFile(file, readFileSync(`${root}/${file}`, "utf8"), ts.ScriptTarget.Latest, true)
  const found: Array<Mutant> = []
  const add = (node: ts.Node, kind: Mutant["kind"], instead: string): void => {
    const start = node.getStart()
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    found.push({ file, start, end: node.end, line, kind, text: node.getText(), instead })
  }
  const look = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return
    if (ts.isExpressionStatement(node) || (ts.isIfStatement(node) && node.elseStatement === undefined)) {
      add(node, "statement", "")
    } else {
      const instead = insteadOf(node, (one) => one.getText())
      if (instead !== undefined) add(node, "expression", instead)
    }
    ts.forEachChild(node, look)
  }
  ts.forEachChild(source, look)
  return found
}

const isWithin = (one: Mutant, other: Mutant): boolean =>
  one.file === other.file && one.start < other.end && other.start < one.end

/** Mutants of a sample that do not overlap, so that all of them can be compiled in at once. */
export const apart = (mutants: ReadonlyArray<Mutant>): ReadonlyArray<Mutant> =>
  mutants.filter((one, index) => !mutants.slice(0, index).some((other) => isWithin(one, other)))

/** A generator of whole numbers below a limit, the same for the same seed. */
export const drawsOf = (seed: number): (limit: number) => number => {
  let state = seed >>> 0
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}

/** So many of these, drawn by a seed. */
export const sampleOf = <A>(all: ReadonlyArray<A>, count: number, seed: number): ReadonlyArray<A> => {
  const draw = drawsOf(seed)
  const left = [...all]
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(draw(left.length), 1)).flat()
}

/**
 * The text of a file with all its mutants in it: the one of a number takes effect where that number is chosen, and none in
 * a worker of its own.
 */
export const compiledIn = (text: string, mutants: ReadonlyArray<readonly [number: number, mutant: Mutant]>): string =>
  [...mutants].sort(([, one], [, other]) => other.start - one.start).reduce((changed, [number, mutant]) => {
    const { end, instead, kind, start } = mutant
    const here = changed.slice(start, end)
    const both = kind === "statement"
      ? `if (!globalThis.isMutated?.(${number})) { ${here} }`
      : `(globalThis.isMutated?.(${number}) ? (${instead}) : (${here}))`
    return changed.slice(0, start) + both + changed.slice(end)
  }, text)
