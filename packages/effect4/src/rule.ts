import ts from "typescript"
import { halves } from "./source.js"

/** What is known while one file is written for Effect 4. */
export interface Rendering {
  readonly checker: ts.TypeChecker
  /** The text of a node on the new line. */
  readonly render: (node: ts.Node) => string
  /** The text of a node, whose children are on the new line, without a rule for the node itself. */
  readonly renderInside: (node: ts.Node) => string
  /** Gives the name of a module of Effect 4 in this file, which then imports it. */
  readonly need: (module: string) => string
}

/** What takes the place of a call, or of a name that is no call; undefined where the rule does not fit. */
export type Rewrite = (node: ts.Node, rendering: Rendering) => string | undefined

/** A rule for a call, given its arguments. */
export const call = (
  write: (args: ReadonlyArray<ts.Expression>, rendering: Rendering, node: ts.CallExpression) => string | undefined
): Rewrite =>
(node, rendering) =>
  ts.isCallExpression(node) && halves(node.expression) !== undefined
    ? write(node.arguments, rendering, node)
    : undefined

/** A rule for a name, called or not. */
export const name = (write: (rendering: Rendering) => string): Rewrite => (node, rendering) =>
  halves(node) === undefined ? undefined : write(rendering)

export const all = ({ render }: Rendering, nodes: ReadonlyArray<ts.Node>): string => nodes.map(render).join(", ")

/** The value of a property in an object that is written out. */
export const property = (rendering: Rendering, node: ts.Node | undefined, key: string): string | undefined => {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  for (const one of node.properties) {
    if (one.name === undefined || one.name.getText() !== key) continue
    if (ts.isPropertyAssignment(one)) return rendering.render(one.initializer)
    if (ts.isShorthandPropertyAssignment(one)) return key
  }
  return undefined
}

/** An object that is written out, with other names for its properties; those named undefined are left out. */
export const renamedProperties = (
  rendering: Rendering,
  node: ts.Node | undefined,
  names: Readonly<Record<string, string | undefined>>
): string | undefined => {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  const properties = node.properties.flatMap((one) => {
    const key = one.name?.getText()
    if (key === undefined || !Object.hasOwn(names, key)) return [rendering.render(one)]
    const to = names[key]
    if (to === undefined) return []
    if (ts.isPropertyAssignment(one)) return [`${to}: ${rendering.render(one.initializer)}`]
    if (ts.isShorthandPropertyAssignment(one)) return [`${to}: ${key}`]
    return [rendering.render(one)]
  })
  return properties.length === 0 ? "{}" : `{ ${properties.join(", ")} }`
}

export const typesOf = (rendering: Rendering, node: ts.CallExpression): string =>
  node.typeArguments === undefined ? "" : `<${all(rendering, node.typeArguments)}>`

/** The same call of another function. */
export const calling = (module: string, member: string, more = ""): Rewrite =>
  call((args, rendering, node) =>
    `${rendering.need(module)}.${member}${typesOf(rendering, node)}(${
      [all(rendering, args), more].filter(Boolean).join(", ")
    })`
  )

/** The same call without its last arguments. */
export const shortened = (module: string, member: string, length: number): Rewrite =>
  call((args, rendering, node) =>
    `${rendering.need(module)}.${member}${typesOf(rendering, node)}(${all(rendering, args.slice(0, length))})`
  )

/** What 3 has a function for is a service that is provided on 4. */
export const provided = (service: (rendering: Rendering) => string): Rewrite =>
  call((args, rendering) => {
    const value = args.at(-1)
    return value &&
      `${rendering.need("effect/Effect")}.provideService(${
        [...args.slice(0, -1).map(rendering.render), service(rendering), rendering.render(value)].join(", ")
      })`
  })

export const isNarrowing = (node: ts.Node | undefined): boolean =>
  node !== undefined && ts.isArrowFunction(node) && node.type !== undefined && ts.isTypePredicateNode(node.type)
