import ts from "typescript"
import { all, call, isNarrowing, name, property, renamedProperties, type Rendering, type Rewrite } from "../rule.js"
import { halves } from "../source.js"

const check = (write: (args: ReadonlyArray<ts.Expression>, rendering: Rendering, schema: string) => string): Rewrite =>
  call((args, rendering) => {
    const schema = rendering.need("effect/Schema")
    return `${schema}.check(${write(args, rendering, schema)})`
  })

/** What Effect 4 has no annotation for is left out: both are for tests, and for what is shown of them. */
const withoutAnnotation = new Set(["arbitrary", "pretty", "equivalence"])

/** A message is a text on 4, and a function on 3. */
const messageOf = (rendering: Rendering, one: ts.ObjectLiteralElementLike): string | undefined => {
  if (!ts.isPropertyAssignment(one) || one.name.getText() !== "message") return undefined
  const { initializer } = one
  if (ts.isIdentifier(initializer)) return `message: ${initializer.text}()`
  if (!ts.isArrowFunction(initializer) || ts.isBlock(initializer.body)) return undefined
  const { body } = initializer
  const inside = ts.isParenthesizedExpression(body) ? property(rendering, body.expression, "message") : undefined
  return `message: ${inside ?? rendering.render(body)}`
}

const annotationsIn = (rendering: Rendering, node: ts.Node | undefined): string | undefined => {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  const kept = node.properties.filter((one) => !withoutAnnotation.has(one.name?.getText() ?? ""))
  return kept.length === 0
    ? "{}"
    : `{ ${kept.map((one) => messageOf(rendering, one) ?? rendering.render(one)).join(", ")} }`
}

const annotations: Rewrite = (node, rendering) => {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined
  const [given] = node.arguments
  const subject = rendering.render(node.expression.expression)
  const between = node.getSourceFile().text.slice(
    node.expression.expression.getEnd(),
    node.expression.name.getStart()
  )
  return `${subject}${between}annotate(${annotationsIn(rendering, given) ?? all(rendering, node.arguments)})`
}

const withDefaults = (rendering: Rendering, schema: ts.Expression, decoding: string, constructor: string): string => {
  const own = rendering.need("effect/Schema")
  const constant = (value: string) => `${rendering.need("effect/Effect")}.sync(${value})`
  return `${rendering.render(schema)}.pipe(${own}.withDecodingDefaultType(${
    constant(decoding)
  }), ${own}.withConstructorDefault(${constant(constructor)}))`
}

const withAnnotations = (args: ReadonlyArray<ts.Expression>, rendering: Rendering): string =>
  [
    rendering.render(args[0] ?? ts.factory.createNull()),
    ...args.slice(1).map((one) => annotationsIn(rendering, one) ?? rendering.render(one))
  ].filter((one) => one !== "{}").join(", ")

/** A function that is given a value and more: on 4 only the value. */
const ofValue = (rendering: Rendering, node: ts.Node | undefined, key: string): string | undefined => {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  const found = node.properties.find((one) => one.name?.getText() === key)
  if (found === undefined || !ts.isPropertyAssignment(found)) return undefined
  const { initializer } = found
  if (!ts.isArrowFunction(initializer)) return rendering.render(initializer)
  const returned = initializer.type === undefined ? "" : `: ${rendering.render(initializer.type)}`
  return `(${initializer.parameters.slice(0, 1).map(rendering.render).join("")})${returned} => ${
    rendering.render(initializer.body)
  }`
}

/** Rules for Schema. */
export const schemaRules: ReadonlyArray<readonly [member: string, Rewrite]> = [
  [
    "effect/ParseResult.fail",
    call(([issue], { need, render }) => {
      if (issue === undefined || !ts.isNewExpression(issue)) return undefined
      const [, actual, message] = issue.arguments ?? []
      return actual &&
        `${need("effect/Effect")}.fail(new (${need("effect/SchemaIssue")}.InvalidValue)(${
          message === undefined ? "undefined" : `{ message: ${render(message)} }`
        }, ${render(actual)}))`
    })
  ],
  [
    "effect/ParseResult.succeed",
    (node, { need }) => halves(node) === undefined ? undefined : `${need("effect/Effect")}.succeed`
  ],
  [
    "effect/Pipeable.Pipeable#pipe",
    call((args, rendering, node) => {
      const kept = args.filter((one) => one.getText() !== "Schema.propertySignature")
      return kept.length === args.length ? undefined : `${rendering.render(node.expression)}(${all(rendering, kept)})`
    })
  ],
  ["effect/Schema.#Context", (node, { render }) => {
    const type = ts.isTypeReferenceNode(node) ? node.typeArguments?.[0] : undefined
    return type && `(${render(type)})["DecodingServices" | "EncodingServices"]`
  }],
  ["effect/Schema.Annotable#annotations", annotations],
  [
    "effect/Schema.BooleanFromString",
    name(({ need }) => {
      const schema = need("effect/Schema")
      const to = `{ decode: (text) => text === "true", encode: (value): "true" | "false" => value ? "true" : "false" }`
      return `${schema}.Literals(["true", "false"]).pipe(${schema}.decodeTo(${schema}.Boolean, ${
        need("effect/SchemaTransformation")
      }.transform(${to})))`
    })
  ],
  [
    "effect/Schema.Config",
    call(([name, schema], { need, render }) =>
      name && schema && `${need("effect/Config")}.schema(${render(schema)}, ${render(name)})`
    )
  ],
  ["effect/Schema.Defect", name(({ need }) => `${need("effect/Schema")}.Defect()`)],
  // on 4 the encoded form of what a Schema makes a Chunk is a Chunk too
  [
    "effect/Schema.List",
    call(([element], { need, render }) => {
      const schema = need("effect/Schema")
      const chunk = need("effect/Chunk")
      return element &&
        `${schema}.Array(${render(element)}).pipe(${schema}.decodeTo(${schema}.Chunk(${schema}.toType(${
          render(element)
        })), ${
          need("effect/SchemaTransformation")
        }.transform({ decode: (values) => ${chunk}.fromIterable(values), encode: (values) => ${chunk}.toReadonlyArray(values) })))`
    })
  ],
  [
    "effect/Schema.Literal",
    call((args, rendering) => {
      const schema = rendering.need("effect/Schema")
      const [first] = args
      if (first === undefined) return undefined
      if (args.length > 1 || ts.isSpreadElement(first)) return `${schema}.Literals([${all(rendering, args)}])`
      return first.kind === ts.SyntaxKind.NullKeyword ? `${schema}.Null` : undefined
    })
  ],
  [
    "effect/Schema.NonNegativeInt",
    name(({ need }) => {
      const schema = need("effect/Schema")
      return `${schema}.Int.check(${schema}.isGreaterThanOrEqualTo(0))`
    })
  ],
  [
    "effect/Schema.Record",
    call((args, rendering) => {
      const key = property(rendering, args[0], "key")
      const value = property(rendering, args[0], "value")
      return key === undefined || value === undefined
        ? undefined
        : `${rendering.need("effect/Schema")}.Record(${key}, ${value})`
    })
  ],
  [
    "effect/Schema.Schema",
    (node, rendering) =>
      ts.isTypeReferenceNode(node)
        ? `${rendering.need("effect/Schema")}.Codec<${all(rendering, node.typeArguments ?? [])}>`
        : undefined
  ],
  [
    "effect/Schema.Struct",
    call(([fields, ...rest], rendering) => {
      const schema = rendering.need("effect/Schema")
      const records = rest.map((one) =>
        `${schema}.Record(${property(rendering, one, "key")}, ${property(rendering, one, "value")})`
      )
      return fields === undefined || rest.length === 0
        ? undefined
        : `${schema}.StructWithRest(${schema}.Struct(${rendering.render(fields)}), [${records.join(", ")}])`
    })
  ],
  ["effect/Schema.Struct#annotations", annotations],
  [
    "effect/Schema.TaggedErrorClass#_tag",
    (node, { render }) =>
      ts.isPropertyAccessExpression(node) ? `${render(node.expression)}.fields._tag.schema.literal` : undefined
  ],
  [
    "effect/Schema.Tuple",
    call((args, rendering) => `${rendering.need("effect/Schema")}.Tuple([${all(rendering, args)}])`)
  ],
  [
    "effect/Schema.Union",
    call((args, rendering) => `${rendering.need("effect/Schema")}.Union([${all(rendering, args)}])`)
  ],
  // what 3 reads as undefined where it is absent, as JSON leaves it out, has to be said on 4
  [
    "effect/Schema.UndefinedOr",
    call((args, rendering, node) => {
      const schema = rendering.need("effect/Schema")
      const either = `${schema}.UndefinedOr(${all(rendering, args)})`
      return ts.isPropertyAssignment(node.parent)
        ? `${either}.pipe(${schema}.withDecodingDefaultKey(${rendering.need("effect/Effect")}.undefined))`
        : either
    })
  ],
  [
    "effect/Schema.between",
    check(([least, most], { render }, schema) =>
      `${schema}.isBetween({ minimum: ${least && render(least)}, maximum: ${most && render(most)} })`
    )
  ],
  [
    "effect/Schema.declare",
    call((args, rendering) => `${rendering.need("effect/Schema")}.declare(${withAnnotations(args, rendering)})`)
  ],
  [
    "effect/Schema.filter",
    call((args, rendering) => {
      const schema = rendering.need("effect/Schema")
      const all = withAnnotations(args, rendering)
      return isNarrowing(args[0]) ? `${schema}.refine(${all})` : `${schema}.check(${schema}.makeFilter(${all}))`
    })
  ],
  ["effect/Schema.finite", check((_args, _rendering, schema) => `${schema}.isFinite()`)],
  [
    "effect/Schema.instanceOf",
    call((args, rendering) => `${rendering.need("effect/Schema")}.instanceOf(${withAnnotations(args, rendering)})`)
  ],
  ["effect/Schema.maxItems", check((args, rendering, schema) => `${schema}.isMaxLength(${all(rendering, args)})`)],
  ["effect/Schema.maxLength", check((args, rendering, schema) => `${schema}.isMaxLength(${all(rendering, args)})`)],
  ["effect/Schema.minItems", check((args, rendering, schema) => `${schema}.isMinLength(${all(rendering, args)})`)],
  [
    "effect/Schema.minLength",
    check(([least], { render }, schema) => `${schema}.isMinLength(${least && render(least)})`)
  ],
  ["effect/Schema.nonNegative", check((_args, _rendering, schema) => `${schema}.isGreaterThanOrEqualTo(0)`)],
  [
    "effect/Schema.optionalWith",
    call(([schema, options], rendering) => {
      if (schema === undefined) return undefined
      const byDefault = property(rendering, options, "default")
      return byDefault === undefined
        ? `${rendering.need("effect/Schema")}.optionalKey(${rendering.render(schema)})`
        : withDefaults(rendering, schema, byDefault, byDefault)
    })
  ],
  [
    "effect/Schema.pattern",
    check((args, rendering, schema) => `${schema}.isPattern(${withAnnotations(args, rendering)})`)
  ],
  ["effect/Schema.positive", check((_args, _rendering, schema) => `${schema}.isGreaterThan(0)`)],
  [
    "effect/Schema.startsWith",
    check((args, rendering, schema) => `${schema}.isStartingWith(${withAnnotations(args, rendering)})`)
  ],
  [
    "effect/Schema.transform",
    call(([from, to, options], rendering) => {
      if (from === undefined || to === undefined) return undefined
      const steps = renamedProperties(rendering, options, { strict: undefined })
      return `${rendering.render(from)}.pipe(${rendering.need("effect/Schema")}.decodeTo(${rendering.render(to)}, ${
        rendering.need("effect/SchemaTransformation")
      }.transform(${steps})))`
    })
  ],
  ["effect/Schema.transform#annotations", annotations],
  [
    "effect/Schema.transformOrFail",
    call(([from, to, options], rendering) => {
      if (from === undefined || to === undefined) return undefined
      const { need, render } = rendering
      return `${render(from)}.pipe(${need("effect/Schema")}.decodeTo(${render(to)}, ${
        need("effect/SchemaTransformation")
      }.transformEffect({ decode: ${ofValue(rendering, options, "decode")}, encode: ${
        ofValue(rendering, options, "encode")
      } })))`
    })
  ],
  [
    "effect/Schema.withConstructorDefault",
    call((args, rendering) =>
      `${rendering.need("effect/Schema")}.withConstructorDefault(${rendering.need("effect/Effect")}.sync(${
        all(rendering, args)
      }))`
    )
  ],
  [
    "effect/Schema.withDefaults",
    call(([optional, options], rendering) => {
      const schema = optional !== undefined && ts.isCallExpression(optional) ? optional.arguments[0] : undefined
      const decoding = property(rendering, options, "decoding")
      const constructor = property(rendering, options, "constructor")
      return schema && decoding && constructor && withDefaults(rendering, schema, decoding, constructor)
    })
  ]
]
