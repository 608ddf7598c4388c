import ts from "typescript"
import { all, type Rendering } from "./rule.js"
import { halves, typeName } from "./source.js"

/** `class X extends Context.Reference<X>()(…) {}` is a constant on 4. */
export const referenceOf = (node: ts.Node, rendering: Rendering): string | undefined => {
  if (!ts.isClassDeclaration(node) || node.name === undefined || node.members.length > 0) return undefined
  const made = node.heritageClauses?.[0]?.types[0]?.expression
  if (made === undefined || !ts.isCallExpression(made) || !ts.isCallExpression(made.expression)) return undefined
  const callee = halves(made.expression.expression)
  if (callee?.right.text !== "Reference" || callee.left.getText() !== "Context") return undefined
  const type = made.typeArguments?.[1]
  const exported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true ? "export " : ""
  const context = rendering.need("effect/Context")
  const shown = type === undefined ? "" : `<${rendering.render(type)}>`
  return `${exported}const ${node.name.text}${
    type === undefined ? "" : `: ${context}.Reference${shown}`
  } = ${context}.Reference${shown}(${all(rendering, made.arguments)})`
}

/** What an object is made of on 4, by the type that is wanted; by property: other names, or none for what is left out. */
const shapes: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>> = {
  "effect/Clock.Clock": {
    "[Clock.ClockTypeId]": [],
    unsafeCurrentTimeMillis: ["currentTimeMillisUnsafe"],
    unsafeCurrentTimeNanos: ["currentTimeNanosUnsafe", "monotonicTimeNanosUnsafe"],
    currentTimeNanos: ["currentTimeNanos", "monotonicTimeNanos"]
  }
}

/** An object that is written out for a type of Effect that has other properties on 4. */
export const shapeOf = (node: ts.Node, rendering: Rendering): string | undefined => {
  if (!ts.isObjectLiteralExpression(node)) return undefined
  const wanted = rendering.checker.getContextualType(node)
  const shape = shapes[(wanted && typeName(wanted)) ?? ""]
  if (shape === undefined) return undefined
  const properties = node.properties.flatMap((one) => {
    const names = shape[one.name?.getText() ?? ""]
    if (names === undefined) return [rendering.render(one)]
    return names.map((to) =>
      ts.isPropertyAssignment(one) ? `${to}: ${rendering.render(one.initializer)}` : `${to}: ${one.name?.getText()}`
    )
  })
  return `{ ${properties.join(", ")} }`
}
