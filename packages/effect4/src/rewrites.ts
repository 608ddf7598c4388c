import ts from "typescript"
import { isExample } from "./examples.js"
import { halves, typeName } from "./source.js"

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
type Rewrite = (node: ts.Node, rendering: Rendering) => string | undefined

/** A rule for a call, given its arguments. */
const call = (
  write: (args: ReadonlyArray<ts.Expression>, rendering: Rendering, node: ts.CallExpression) => string | undefined
): Rewrite =>
(node, rendering) =>
  ts.isCallExpression(node) && halves(node.expression) !== undefined
    ? write(node.arguments, rendering, node)
    : undefined

/** A rule for a name, called or not. */
const name = (write: (rendering: Rendering) => string): Rewrite => (node, rendering) =>
  halves(node) === undefined ? undefined : write(rendering)

const all = ({ render }: Rendering, nodes: ReadonlyArray<ts.Node>): string => nodes.map(render).join(", ")

/** The value of a property in an object that is written out. */
const property = (rendering: Rendering, node: ts.Node | undefined, key: string): string | undefined => {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return undefined
  for (const one of node.properties) {
    if (one.name === undefined || one.name.getText() !== key) continue
    if (ts.isPropertyAssignment(one)) return rendering.render(one.initializer)
    if (ts.isShorthandPropertyAssignment(one)) return key
  }
  return undefined
}

/** An object that is written out, with other names for its properties; those named undefined are left out. */
const renamedProperties = (
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

const isNarrowing = (node: ts.Node | undefined): boolean =>
  node !== undefined && ts.isArrowFunction(node) && node.type !== undefined && ts.isTypePredicateNode(node.type)

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

const withAnnotations = (args: ReadonlyArray<ts.Expression>, rendering: Rendering): string =>
  [
    rendering.render(args[0] ?? ts.factory.createNull()),
    ...args.slice(1).map((one) => annotationsIn(rendering, one) ?? rendering.render(one))
  ].filter((one) => one !== "{}").join(", ")

const typesOf = (rendering: Rendering, node: ts.CallExpression): string =>
  node.typeArguments === undefined ? "" : `<${all(rendering, node.typeArguments)}>`

/** The same call of another function. */
const calling = (module: string, member: string, more = ""): Rewrite =>
  call((args, rendering, node) =>
    `${rendering.need(module)}.${member}${typesOf(rendering, node)}(${
      [all(rendering, args), more].filter(Boolean).join(", ")
    })`
  )

/** The same call without its last arguments. */
const shortened = (module: string, member: string, length: number): Rewrite =>
  call((args, rendering, node) =>
    `${rendering.need(module)}.${member}${typesOf(rendering, node)}(${all(rendering, args.slice(0, length))})`
  )

/** What 3 has a function for is a service that is provided on 4. */
const provided = (service: (rendering: Rendering) => string): Rewrite =>
  call((args, rendering) => {
    const value = args.at(-1)
    return value &&
      `${rendering.need("effect/Effect")}.provideService(${
        [...args.slice(0, -1).map(rendering.render), service(rendering), rendering.render(value)].join(", ")
      })`
  })

/** A layer of what is a service on 4 as any other. */
const layerOf = (module: string, service: string): Rewrite =>
  call((args, rendering) =>
    `${rendering.need("effect/Layer")}.succeed(${rendering.need(module)}.${service}, ${all(rendering, args)})`
  )

/** A fold of a stream, whose start is made when it runs. */
const folded = (member: string): Rewrite =>
  call((args, rendering) => {
    const start = args.at(-2)
    const step = args.at(-1)
    return start && step &&
      `${rendering.need("effect/Stream")}.${member}(${
        [...args.slice(0, -2).map(rendering.render), `() => (${rendering.render(start)})`, rendering.render(step)].join(
          ", "
        )
      })`
  })

/** A method of a semaphore is a function of its module on 4. */
const ofSemaphore = (member: string): Rewrite => (node, rendering) =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
    ? `${rendering.need("effect/Semaphore")}.${member}(${rendering.render(node.expression.expression)}, ${
      all(rendering, node.arguments)
    })`
    : undefined

const started = "{ startImmediately: true }"

const forking = (member: string): Rewrite => (node, rendering) =>
  ts.isCallExpression(node)
    ? calling("effect/Effect", member, started)(node, rendering)
    : name(({ need }) => `${need("effect/Effect")}.${member}(${started})`)(node, rendering)

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

/** A class that extends what `Context.Tag` gives. */
const tag: Rewrite = (node, rendering) => {
  if (!ts.isCallExpression(node) || !ts.isCallExpression(node.expression)) return undefined
  const types = node.typeArguments ?? []
  return `${rendering.need("effect/Context")}.Service<${all(rendering, types)}>()(${
    all(rendering, node.expression.arguments)
  })`
}

const either = { onLeft: "onFailure", onRight: "onSuccess" }

const matched = (member: string) =>
  call((args, rendering) =>
    `${rendering.need("effect/Result")}.${member}(${
      args.map((one) => renamedProperties(rendering, one, either) ?? rendering.render(one)).join(", ")
    })`
  )

const withoutEmptyType = (rendering: Rendering, node: ts.Node): string | undefined =>
  property(rendering, node, "contentType") === `""`
    ? renamedProperties(rendering, node, { contentType: undefined })
    : undefined

/** One of the two classes of a client's errors, which are one on 4, with a reason. */
const clientError: Rewrite = (node, rendering) => {
  const errors = rendering.need("effect/http/HttpClientError")
  if (!ts.isNewExpression(node)) return halves(node) === undefined ? undefined : `${errors}.HttpClientError`
  const [given] = node.arguments ?? []
  const reason = property(rendering, given, "reason")
  if (reason === undefined || !reason.startsWith(`"`)) return undefined
  return `new ${errors}.HttpClientError({ reason: new ${errors}.${reason.slice(1, -1)}Error(${
    renamedProperties(rendering, given, { reason: undefined })
  }) })`
}

/** By member of Effect 3: what Effect 4 writes in another form. */
export const rewrites: ReadonlyMap<string, Rewrite> = new Map<string, Rewrite>([
  [
    "effect/Effect.zipLeft",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      if (args.length === 1) return `${effect}.tap(() => ${all(rendering, args)})`
      const [first, second, options] = args
      if (first === undefined || second === undefined) return undefined
      return options === undefined
        ? `${effect}.tap(${rendering.render(first)}, () => ${rendering.render(second)})`
        : `${effect}.map(${effect}.zip(${all(rendering, args)}), ([first]) => first)`
    })
  ],
  [
    "effect/Effect.zipRight",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      return args.length === 3
        ? `${effect}.map(${effect}.zip(${all(rendering, args)}), ([, second]) => second)`
        : `${effect}.andThen(${all(rendering, args)})`
    })
  ],
  [
    "effect/Effect.transposeMapOption",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      const option = rendering.need("effect/Option")
      return args.length === 1
        ? `((option) => ${effect}.transposeOption(${option}.map(option, ${all(rendering, args)})))`
        : `${effect}.transposeOption(${option}.map(${all(rendering, args)}))`
    })
  ],
  [
    "effect/Effect.dieMessage",
    call((args, rendering) => `${rendering.need("effect/Effect")}.die(new Error(${all(rendering, args)}))`)
  ],
  ["effect/Effect.scope", name(({ need }) => `${need("effect/Effect")}.scope`)],
  ["effect/Context.Tag", tag],
  ["effect/Either.match", matched("match")],
  [
    "effect/Schema.Union",
    call((args, rendering) => `${rendering.need("effect/Schema")}.Union([${all(rendering, args)}])`)
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
    "effect/Schema.Tuple",
    call((args, rendering) => `${rendering.need("effect/Schema")}.Tuple([${all(rendering, args)}])`)
  ],
  [
    "effect/Schema.minLength",
    check(([least], { render }, schema) => `${schema}.isMinLength(${least && render(least)})`)
  ],
  ["effect/Schema.positive", check((_args, _rendering, schema) => `${schema}.isGreaterThan(0)`)],
  ["effect/Schema.nonNegative", check((_args, _rendering, schema) => `${schema}.isGreaterThanOrEqualTo(0)`)],
  [
    "effect/Schema.between",
    check(([least, most], { render }, schema) =>
      `${schema}.isBetween({ minimum: ${least && render(least)}, maximum: ${most && render(most)} })`
    )
  ],
  [
    "effect/Schema.startsWith",
    check((args, rendering, schema) => `${schema}.isStartingWith(${withAnnotations(args, rendering)})`)
  ],
  [
    "effect/Schema.pattern",
    check((args, rendering, schema) => `${schema}.isPattern(${withAnnotations(args, rendering)})`)
  ],
  [
    "effect/Schema.filter",
    call((args, rendering) => {
      const schema = rendering.need("effect/Schema")
      const all = withAnnotations(args, rendering)
      return isNarrowing(args[0]) ? `${schema}.refine(${all})` : `${schema}.check(${schema}.makeFilter(${all}))`
    })
  ],
  [
    "effect/Schema.declare",
    call((args, rendering) => `${rendering.need("effect/Schema")}.declare(${withAnnotations(args, rendering)})`)
  ],
  [
    "effect/Schema.instanceOf",
    call((args, rendering) => `${rendering.need("effect/Schema")}.instanceOf(${withAnnotations(args, rendering)})`)
  ],
  [
    "effect/Schema.NonNegativeInt",
    name(({ need }) => {
      const schema = need("effect/Schema")
      return `${schema}.Int.check(${schema}.isGreaterThanOrEqualTo(0))`
    })
  ],
  [
    "effect/Schema.optionalWith",
    call(([schema, options], rendering, node) => {
      if (schema === undefined) return undefined
      const own = rendering.need("effect/Schema")
      const byDefault = property(rendering, options, "default")
      // what follows may be the default of its constructor
      const steps = ts.isPropertyAccessExpression(node.parent)
        ? ["withDecodingDefaultType"]
        : ["withDecodingDefaultType", "withConstructorDefault"]
      return byDefault === undefined
        ? `${own}.optionalKey(${rendering.render(schema)})`
        : `${rendering.render(schema)}.pipe(${
          steps.map((one) => `${own}.${one}(${rendering.need("effect/Effect")}.sync(${byDefault}))`).join(", ")
        })`
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
    "effect/Schema.transform",
    call(([from, to, options], rendering) => {
      if (from === undefined || to === undefined) return undefined
      const steps = renamedProperties(rendering, options, { strict: undefined })
      return `${rendering.render(from)}.pipe(${rendering.need("effect/Schema")}.decodeTo(${rendering.render(to)}, ${
        rendering.need("effect/SchemaTransformation")
      }.transform(${steps})))`
    })
  ],
  [
    "effect/Pipeable.Pipeable#pipe",
    call((args, rendering, node) => {
      const kept = args.filter((one) => one.getText() !== "Schema.propertySignature")
      return kept.length === args.length ? undefined : `${rendering.render(node.expression)}(${all(rendering, kept)})`
    })
  ],
  ["effect/Schema.Annotable#annotations", annotations],
  ["effect/Schema.Struct#annotations", annotations],
  ["effect/Schema.transform#annotations", annotations],
  [
    "effect/Metric.tagged",
    call(([metric, key, value], { need, render }) =>
      metric === undefined || key === undefined || value === undefined ?
        undefined
        : `${need("effect/Metric")}.withAttributes(${render(metric)}, { [${render(key)}]: ${render(value)} })`
    )
  ],
  ["effect/Metric.incrementBy", calling("effect/Metric", "update")],
  [
    "effect/Metric.histogram",
    call(([name, boundaries, description], { need, render }) =>
      name && boundaries && description &&
      `${need("effect/Metric")}.histogram(${render(name)}, { boundaries: ${render(boundaries)}, description: ${
        render(description)
      } })`
    )
  ],
  [
    "effect/Metric.timerWithBoundaries",
    call(([name, boundaries, description], { need, render }) =>
      name && boundaries && description &&
      `${need("effect/Metric")}.timer(${render(name)}, { boundaries: ${render(boundaries)}, description: ${
        render(description)
      } })`
    )
  ],
  ["effect/MetricBoundaries.exponential", calling("effect/Metric", "exponentialBoundaries")],
  [
    "effect/MetricBoundaries.MetricBoundaries#values",
    (node, { render }) => ts.isPropertyAccessExpression(node) ? render(node.expression) : undefined
  ],
  // on 4 a fiber starts later, unless it is told to
  ["effect/Effect.forkDaemon", forking("forkDetach")],
  ["effect/Effect.forkIn", forking("forkIn")],
  ["effect/Effect.forkScoped", forking("forkScoped")],
  [
    "effect/Effect.withSpan",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      const options = args.at(-1)
      const stack = property(rendering, options, "captureStackTrace")
      if (stack === undefined) return undefined
      const others = renamedProperties(rendering, options, { captureStackTrace: undefined })
      return `${effect}.withSpan(${all(rendering, args.slice(0, -1))}, ${others}, { captureStackTrace: ${stack} })`
    })
  ],
  [
    "effect/Effect.unlessEffect",
    call(([effect, condition], { need, render }) =>
      effect && condition &&
      `${need("effect/Effect")}.when(${render(effect)}, ${need("effect/Effect")}.map(${
        render(condition)
      }, (holds) => !holds))`
    )
  ],
  // a defect is no cause on 4
  [
    "effect/Effect.tapDefect",
    call((args, rendering) => {
      const tap = args.at(-1)
      return tap &&
        `${rendering.need("effect/Effect")}.tapDefect(${
          [
            ...args.slice(0, -1).map(rendering.render),
            `${rendering.need("effect/Function")}.flow(${rendering.need("effect/Cause")}.die, ${rendering.render(tap)})`
          ].join(", ")
        })`
    })
  ],
  [
    "effect/Stream.timeoutFail",
    call(([failure, duration], { need, render }) => {
      const stream = need("effect/Stream")
      return failure && duration &&
        `${stream}.timeoutOrElse({ duration: ${render(duration)}, orElse: () => ${stream}.fail((${
          render(failure)
        })()) })`
    })
  ],
  [
    "effect/Stream.repeatEffectOption",
    call(([effect], { need, render }) =>
      effect &&
      `${need("effect/Stream")}.fromEffectRepeat(${need("effect/Effect")}.mapError(${render(effect)}, ${
        need("effect/Option")
      }.getOrElse(() => ${need("effect/Cause")}.Done())))`
    )
  ],
  [
    "effect/Schedule.union",
    call(([other], { need, render }) =>
      other && `(schedule) => ${need("effect/Schedule")}.min([schedule, ${render(other)}])`
    )
  ],
  [
    "effect/Schedule.upTo",
    call(([duration], { need, render }) =>
      duration && `${need("effect/Schedule")}.upTo({ duration: ${render(duration)} })`
    )
  ],
  ["effect/Random.nextIntBetween", calling("effect/Random", "nextIntBetween", "{ halfOpen: true }")],
  ["effect/Deferred.unsafeMake", shortened("effect/Deferred", "makeUnsafe", 0)],
  [
    "effect/Fiber.RuntimeFiber#unsafePoll",
    (node, { render }) =>
      ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        ? `(${render(node.expression.expression)}.pollUnsafe() ?? null)`
        : undefined
  ],
  [
    "effect/Fiber.RuntimeFiber#unsafeInterruptAsFork",
    (node, { render }) =>
      ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        ? `${render(node.expression.expression)}.interruptUnsafe()`
        : undefined
  ],
  [
    "effect/Fiber.interruptFork",
    (node, rendering) => {
      const effect = rendering.need("effect/Effect")
      if (ts.isCallExpression(node)) {
        return `${effect}.sync(() => ${all(rendering, node.arguments)}.interruptUnsafe())`
      }
      return halves(node) === undefined ? undefined : `(fiber) => ${effect}.sync(() => fiber.interruptUnsafe())`
    }
  ],
  ["effect/Scope.fork", shortened("effect/Scope", "fork", 1)],
  ["effect/Effect.Semaphore#take", ofSemaphore("take")],
  ["effect/Effect.Semaphore#release", ofSemaphore("release")],
  ["effect/Stream.runFold", folded("runFold")],
  [
    "effect/Either.zipWith",
    call(([one, other, combine], { need, render }) => {
      const result = need("effect/Result")
      return one && other && combine && ts.isArrowFunction(combine)
        ? `${result}.map(${result}.all([${render(one)}, ${render(other)}]), ([${
          combine.parameters.map(render).join(", ")
        }]) => ${render(combine.body)})`
        : undefined
    })
  ],
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
    "effect/Array.filterMap",
    call((args, rendering) => {
      const array = rendering.need("effect/Array")
      return `${array}.getSomes(${array}.map(${all(rendering, args)}))`
    })
  ],
  [
    "effect/Record.filterMap",
    call((args, rendering) => {
      const record = rendering.need("effect/Record")
      return `${record}.getSomes(${record}.map(${all(rendering, args)}))`
    })
  ],
  [
    "effect/Cause.failureOrCause",
    call((args, rendering) =>
      `${rendering.need("effect/Result")}.flip(${rendering.need("effect/Cause")}.findError(${all(rendering, args)}))`
    )
  ],
  [
    "effect/Cause.keepDefects",
    call(([cause], { need, render }) => {
      const own = need("effect/Cause")
      const option = need("effect/Option")
      return cause &&
        `${option}.map(${option}.liftPredicate(${
          render(cause)
        }.reasons.filter(${own}.isDieReason), (dies) => dies.length > 0), ${own}.fromReasons<never>)`
    })
  ],
  ["effect/Subscribable.make", call(([view], { render }) => view && render(view))],
  ["effect/Subscribable.Subscribable", (node, { need, render }) => {
    if (!ts.isTypeReferenceNode(node)) return undefined
    const type = node.typeArguments?.[0]
    return type &&
      `{ readonly get: ${need("effect/Effect")}.Effect<${render(type)}>; readonly changes: ${
        need("effect/Stream")
      }.Stream<${render(type)}> }`
  }],
  [
    "effect/Schema.Schema",
    (node, rendering) =>
      ts.isTypeReferenceNode(node)
        ? `${rendering.need("effect/Schema")}.Codec<${all(rendering, node.typeArguments ?? [])}>`
        : undefined
  ],
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
    "effect/ParseResult.succeed",
    (node, { need }) => halves(node) === undefined ? undefined : `${need("effect/Effect")}.succeed`
  ],
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
    "@effect/platform/HttpClient.withTracerDisabledWhen",
    call((args, { need, render }) => {
      const client = need("effect/http/HttpClient")
      const effect = need("effect/Effect")
      const when = args.at(-1)
      if (when === undefined) return undefined
      const untraced = `${effect}.provideService(${client}.TracerDisabledWhen, ${render(when)})`
      const [own] = args
      return args.length === 1
        ? `${client}.transformResponse(${untraced})`
        : own && `${client}.transformResponse(${render(own)}, ${untraced})`
    })
  ],
  // a stream without a type is sent as bytes on 4: what pre-signed headers do not name may not be sent
  [
    "@effect/platform/HttpClientRequest.setBody",
    call((args, rendering) => {
      const request = rendering.need("effect/http/HttpClientRequest")
      return `${request}.setBody(${all(rendering, args)}), ${request}.removeHeader("content-type")`
    })
  ],
  // an empty content type is none on 3, and is sent on 4
  [
    "@effect/platform/HttpBody.stream",
    call(([body, type, length], { need, render }) =>
      body && type && length && type.getText() === `""`
        ? `${need("effect/http/HttpBody")}.stream(${render(body)}, undefined, ${render(length)})`
        : undefined
    )
  ],
  [
    "@effect/platform/HttpBody.raw",
    call((args, rendering) =>
      `${rendering.need("effect/http/HttpBody")}.raw(${
        args.map((one) => withoutEmptyType(rendering, one) ?? rendering.render(one)).join(", ")
      })`
    )
  ],
  [
    "effect/Fiber.poll",
    call((args, rendering) =>
      `${rendering.need("effect/Effect")}.sync(() => ${rendering.need("effect/Option")}.fromNullishOr((${
        all(rendering, args)
      }).pollUnsafe()))`
    )
  ],
  [
    "effect/Cause.dieOption",
    (node, rendering) => {
      const found = (cause: string) =>
        `${rendering.need("effect/Result")}.getSuccess(${rendering.need("effect/Cause")}.findDefect(${cause}))`
      return ts.isCallExpression(node) ? found(all(rendering, node.arguments)) : `(cause) => ${found("cause")}`
    }
  ],
  [
    "effect/Stream.dieMessage",
    call((args, rendering) => `${rendering.need("effect/Stream")}.die(new Error(${all(rendering, args)}))`)
  ],
  ["effect/LogLevel.All", name(() => `"All"`)],
  ["effect/LogLevel.Debug", name(() => `"Debug"`)],
  ["effect/LogLevel.None", name(() => `"None"`)],
  ["effect/Fiber.never", name(({ need }) => `${need("effect/Effect")}.runFork(${need("effect/Effect")}.never)`)],
  [
    "effect/Effect.when",
    call(([effect, condition], { need, render }) =>
      effect && condition &&
      `${need("effect/Effect")}.when(${render(effect)}, ${need("effect/Effect")}.sync(${render(condition)}))`
    )
  ],
  ["@effect/platform/FileSystem.FileDescriptor", call((args, rendering) => all(rendering, args))],
  [
    "effect/Logger.replace",
    call(([, logger], { need, render }) => logger && `${need("effect/Logger")}.layer([${render(logger)}])`)
  ],
  ["effect/Logger.withMinimumLogLevel", provided(({ need }) => `${need("effect/References")}.MinimumLogLevel`)],
  [
    "effect/Array.partition",
    call(([values, isIn], { render }) =>
      values && isIn &&
      `[${render(values)}.filter((value) => !(${render(isIn)})(value)), ${render(values)}.filter(${render(isIn)})]`
    )
  ],
  ["@effect/platform/KeyValueStore.KeyValueStore#get", (node, rendering) =>
    ts.isCallExpression(node)
      ? `${rendering.need("effect/Effect")}.map(${rendering.render(node.expression)}(${
        all(rendering, node.arguments)
      }), ${rendering.need("effect/Option")}.fromNullishOr)`
      : undefined],
  [
    "effect/Effect.catchIf",
    call((args, rendering) =>
      args.length === 3
        ? `${rendering.need("effect/Effect")}.catchIf(${all(rendering, args)}, ${rendering.need("effect/Effect")}.fail)`
        : undefined
    )
  ],
  [
    "effect/Schema.TaggedErrorClass#_tag",
    (node, { render }) =>
      ts.isPropertyAccessExpression(node) ? `${render(node.expression)}.fields._tag.schema.literal` : undefined
  ],
  ["effect/Effect.fork", (node, rendering) =>
    ts.isCallExpression(node)
      ? calling("effect/Effect", "forkChild", started)(node, rendering)
      : name(({ need }) => `${need("effect/Effect")}.forkChild(${started})`)(node, rendering)],
  [
    "@effect/platform/HttpApp.Default",
    (node, rendering) => {
      if (!ts.isTypeReferenceNode(node)) return undefined
      const { need, render } = rendering
      const [error, services] = node.typeArguments ?? []
      const request = `${need("effect/http/HttpServerRequest")}.HttpServerRequest`
      return `${need("effect/Effect")}.Effect<${need("effect/http/HttpServerResponse")}.HttpServerResponse, ${
        error === undefined ? "never" : render(error)
      }, ${services === undefined ? request : `${request} | ${render(services)}`}>`
    }
  ],
  [
    "@effect/platform/HttpIncomingMessage.withMaxBodySize",
    call(([size], { need, render }) => {
      const [bytes] = size !== undefined && ts.isCallExpression(size) ? size.arguments : []
      return bytes &&
        `${need("effect/Effect")}.provideService(${need("effect/http/HttpIncomingMessage")}.MaxBodySize, ${
          render(bytes)
        })`
    })
  ],
  // who is interrupted waits for the end of what it runs, unless that is a fiber that it only joins
  [
    "effect/Effect.disconnect",
    call(([disconnected], { need, render }) => {
      const effect = need("effect/Effect")
      const joined = `${effect}.onInterrupt(restore(${
        need("effect/Fiber")
      }.join(fiber)), () => ${effect}.sync(() => fiber.interruptUnsafe()))`
      return disconnected &&
        `(<A, E, R>(effect: ${effect}.Effect<A, E, R>) => ${effect}.uninterruptibleMask((restore) => ${effect}.flatMap(${effect}.forkDetach(restore(effect), ${started}), (fiber) => ${joined})))(${
          render(disconnected)
        })`
    })
  ],
  ["effect/Effect.ignoreLogged", (node, rendering) => {
    const ignore = `${rendering.need("effect/Effect")}.ignoreCause`
    if (ts.isCallExpression(node)) return `${ignore}(${all(rendering, node.arguments)}, { log: "Debug" })`
    return halves(node) === undefined ? undefined : `${ignore}({ log: "Debug" })`
  }],
  [
    "effect/Effect.timeoutFail",
    call((args, rendering) => {
      const options = args.at(-1)
      const duration = property(rendering, options, "duration")
      const onTimeout = property(rendering, options, "onTimeout")
      const effect = rendering.need("effect/Effect")
      return duration && onTimeout &&
        `${effect}.timeoutOrElse(${
          [
            ...args.slice(0, -1).map(rendering.render),
            `{ duration: ${duration}, orElse: () => ${effect}.failSync(${onTimeout}) }`
          ].join(", ")
        })`
    })
  ],
  ["effect/Cause.pretty", shortened("effect/Cause", "pretty", 1)],
  [
    "@effect/platform/Headers.remove",
    call((args, rendering) => {
      const headers = rendering.need("effect/http/Headers")
      const names = args.at(-1)
      const isList = names !== undefined &&
        rendering.checker.isArrayLikeType(rendering.checker.getTypeAtLocation(names))
      return `${headers}.${isList ? "removeMany" : "remove"}(${all(rendering, args)})`
    })
  ],
  [
    "@effect/platform-node/NodeKeyValueStore.layerFileSystem",
    call((args, rendering) =>
      `${rendering.need("effect/Layer")}.provide(${
        rendering.need("effect/persistence/KeyValueStore")
      }.layerFileSystem(${all(rendering, args)}), ${rendering.need("@effect/platform-node/NodeServices")}.layer)`
    )
  ],
  ["effect/FiberSet.run", calling("effect/FiberSet", "run", started)],
  ["effect/Layer.setRandom", layerOf("effect/Random", "Random")],
  ["effect/Layer.setTracer", layerOf("effect/Tracer", "Tracer")],
  ["effect/Console.setConsole", layerOf("effect/Console", "Console")],
  ["effect/Logger.minimumLogLevel", layerOf("effect/References", "MinimumLogLevel")],
  [
    "effect/LogLevel.All#label",
    (node, { render }) => ts.isPropertyAccessExpression(node) ? `${render(node.expression)}.toUpperCase()` : undefined
  ],
  ["effect/Schema.Defect", name(({ need }) => `${need("effect/Schema")}.Defect()`)],
  ["effect/Schema.finite", check((_args, _rendering, schema) => `${schema}.isFinite()`)],
  ["effect/Schema.maxItems", check((args, rendering, schema) => `${schema}.isMaxLength(${all(rendering, args)})`)],
  ["effect/Schema.maxLength", check((args, rendering, schema) => `${schema}.isMaxLength(${all(rendering, args)})`)],
  ["effect/Schema.minItems", check((args, rendering, schema) => `${schema}.isMinLength(${all(rendering, args)})`)],
  [
    "effect/Stream.fromReadableStream",
    call(([evaluate, onError], { need, render }) =>
      evaluate && onError &&
      `${need("effect/Stream")}.fromReadableStream({ evaluate: ${render(evaluate)}, onError: ${render(onError)} })`
    )
  ],
  ["effect/Stream.runFoldEffect", folded("runFoldEffect")],
  ["effect/Effect.yieldNow", call((_args, { need }) => `${need("effect/Effect")}.yieldNow`)],
  [
    "effect/Effect.repeatN",
    call((args, rendering) => {
      const effect = rendering.need("effect/Effect")
      const times = args.at(-1)
      return times &&
        `${effect}.repeat(${
          [...args.slice(0, -1).map(rendering.render), `{ times: ${rendering.render(times)} }`].join(", ")
        })`
    })
  ],
  ["effect/Effect.withScheduler", provided(({ need }) => `${need("effect/Scheduler")}.Scheduler`)],
  ["effect/Effect.withClock", provided(({ need }) => `${need("effect/Clock")}.Clock`)],
  ["effect/Stream.runCollect", (node, rendering) => {
    // what is shown to users takes the array as it is
    if (isExample(node)) return undefined
    const { need } = rendering
    const collected = `${need("effect/Stream")}.runCollect`
    const asChunk = `${need("effect/Chunk")}.fromIterable`
    if (ts.isCallExpression(node)) {
      return `${need("effect/Effect")}.map(${collected}(${all(rendering, node.arguments)}), ${asChunk})`
    }
    return ts.isPropertyAccessExpression(node) ? `${collected}, ${need("effect/Effect")}.map(${asChunk})` : undefined
  }],
  [
    "@effect/platform/Error.SystemError",
    (node, rendering) => {
      const errors = rendering.need("effect/PlatformError")
      if (!ts.isNewExpression(node)) return halves(node) === undefined ? undefined : `${errors}.PlatformError`
      return `${errors}.systemError(${renamedProperties(rendering, node.arguments?.[0], { reason: "_tag" })})`
    }
  ],
  ["@effect/platform/HttpClientError.RequestError", clientError],
  ["@effect/platform/HttpClientError.ResponseError", clientError],
  [
    "@effect/platform/KeyValueStore.KeyValueStore#forSchema",
    call((args, rendering, node) =>
      ts.isPropertyAccessExpression(node.expression)
        ? `${rendering.need("effect/persistence/KeyValueStore")}.toSchemaStore(${
          rendering.render(node.expression.expression)
        }, ${all(rendering, args)})`
        : undefined
    )
  ],
  [
    "effect/Schedule.intersect",
    call((args, rendering) => `${rendering.need("effect/Schedule")}.max([${all(rendering, args)}])`)
  ],
  ["effect/Schema.#Context", (node, { render }) => {
    const type = ts.isTypeReferenceNode(node) ? node.typeArguments?.[0] : undefined
    return type && `(${render(type)})["DecodingServices" | "EncodingServices"]`
  }],
  [
    "effect/Schema.Config",
    call(([name, schema], { need, render }) =>
      name && schema && `${need("effect/Config")}.schema(${render(schema)}, ${render(name)})`
    )
  ],
  ["effect/Hash.cached", call(([, hash], { render }) => hash && render(hash))],
  [
    "effect/Metric.increment",
    call((args, rendering) => `${rendering.need("effect/Metric")}.update(${all(rendering, args)}, 1)`)
  ]
])
