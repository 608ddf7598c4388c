/** What Effect 3 and Effect 4 do differently: the seam of the second line replaces this module as a whole. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

const units = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]] as const

// to the millisecond: on 4, a page loads the function of Effect for nothing else
export const spelled: (duration: Duration.Duration) => string = (duration) => {
  let left = Math.round(Duration.toMillis(duration))
  if (!Number.isFinite(left)) return "Infinity"
  const parts = units.flatMap(([unit, millis]) => {
    const count = Math.floor(left / millis)
    left -= count * millis
    return count === 0 ? [] : [`${count}${unit}`]
  })
  return parts.length === 0 ? "0" : parts.join(" ")
}

export const waitsOf = <A>(
  schedule: Schedule.Schedule<A>,
  most: number
): Effect.Effect<ReadonlyArray<Duration.Duration>> =>
  Effect.gen(function*() {
    const step = yield* Schedule.toStep(schedule)
    const waits: Array<Duration.Duration> = []
    let now = 0
    while (waits.length < most) {
      const next = yield* Effect.option(step(now, undefined))
      if (Option.isNone(next)) break
      const [, wait] = next.value
      waits.push(wait)
      now += Duration.toMillis(wait)
    }
    return waits
  })

const isLive = (clock: Clock.Clock): boolean => clock === Clock.Clock.defaultValue()

export const timer: Effect.Effect<Timer> = /* #__PURE__ */ Effect.map(
  /* #__PURE__ */ Effect.context<never>(),
  (context): Timer =>
    timerOf(Context.get(context, Clock.Clock), (effect) => {
      const fiber = Effect.runForkWith(context)(Effect.interruptible(effect))
      return () => fiber.interruptUnsafe()
    })
)

export const severalOf = <A, E>(
  stream: Stream.Stream<A, E>
): Effect.Effect<Pull<ReadonlyArray<A>, E>, never, Scope.Scope> =>
  Effect.map(
    Stream.toPull(stream),
    Effect.mapError((error): Option.Option<E> => Cause.isDone(error) ? Option.none() : Option.some(error))
  )

export const paginate = <S, A, E, R>(
  start: S,
  step: (state: S) => Effect.Effect<readonly [A, Option.Option<S>], E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginate(start, (state: S) => Effect.map(step(state), ([element, next]) => [[element], next] as const))

export const toStream = <A, E, R>(pull: Effect.Effect<A, Option.Option<E>, R>): Stream.Stream<A, E, R> =>
  Stream.fromPull(Effect.succeed(Effect.matchEffect(pull, {
    onFailure: (end): Effect.Effect<never, E | Cause.Done> =>
      Option.isNone(end) ? Cause.done() : Effect.fail(end.value),
    onSuccess: (element) => Effect.succeed([element] as const)
  })))

const others = (ast: SchemaAST.Objects): SchemaAST.AST => {
  const named = new Set(ast.propertySignatures.map(({ name }) => name))
  return Schema.String.check(Schema.makeFilter((key) => !named.has(key))).ast
}

// On 4 an index signature is what says that a struct has more fields than it names
const withOthers = (type: SchemaAST.AST) => (ast: SchemaAST.AST): SchemaAST.AST => {
  const encoding = ast.encoding?.map(({ to, transformation }) =>
    new SchemaAST.Link(withOthers(type)(to), transformation)
  )
  const own = Object.create(Object.getPrototypeOf(ast), Object.getOwnPropertyDescriptors(ast))
  const change = (values: object) => Object.assign(own, encoding === undefined ? {} : { encoding }, values)
  switch (ast._tag) {
    case "Objects":
      return change({
        propertySignatures: ast.propertySignatures.map((one) =>
          new SchemaAST.PropertySignature(one.name, withOthers(type)(one.type))
        ),
        indexSignatures: ast.indexSignatures.length > 0
          ? ast.indexSignatures.map((one) => new SchemaAST.IndexSignature(one.parameter, withOthers(type)(one.type)))
          : [new SchemaAST.IndexSignature(others(ast), type)]
      })
    case "Arrays":
      return change({ elements: ast.elements.map(withOthers(type)), rest: ast.rest.map(withOthers(type)) })
    case "Union":
      return change({ types: ast.types.map(withOthers(type)) })
    case "Suspend":
      return change({ thunk: () => withOthers(type)(ast.thunk()) })
    default:
      return change({})
  }
}

export const decodeKeeping = <A, I>(
  schema: Schema.Codec<A, I>
): (value: unknown) => Result.Result<A, Schema.SchemaError> =>
  Schema.decodeUnknownResult(Schema.make<Schema.Codec<A, I>>(withOthers(SchemaAST.unknown)(schema.ast)))

export const closed = <Fields extends Schema.Struct.Fields>(schema: Schema.Struct<Fields>): Schema.Struct<Fields> =>
  schema.rebuild(
    new SchemaAST.Objects(
      schema.ast.propertySignatures,
      [new SchemaAST.IndexSignature(others(schema.ast), SchemaAST.never)],
      schema.ast.annotations,
      schema.ast.checks,
      schema.ast.encoding,
      schema.ast.context
    )
  )

export const hidden = (): string => hiddenValue()

export const leavesOf = (
  issue: SchemaIssue.Issue,
  path: Leaf["path"] = []
): Arr.NonEmptyReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer":
      return leavesOf(issue.issue, path.concat(issue.path))
    case "Encoding":
      return leavesOf(issue.issue, path)
    case "Composite":
      return Arr.flatMap(issue.issues, (one) => leavesOf(one, path))
    case "AnyOf":
      return Arr.isReadonlyArrayNonEmpty(issue.issues)
        ? Arr.flatMap(issue.issues, (one) => leavesOf(one, path))
        : [{ path, issue }]
    default:
      return [{ path, issue }]
  }
}

const problems: Readonly<Record<string, string>> = {
  MissingKey: "a field is missing",
  UnexpectedKey: "an unexpected field"
}

export const openRecord = <const Fields extends Schema.Struct.Fields>(
  identifier: string,
  fields: Fields,
  { ours = false }: { readonly ours?: boolean } = {}
) => {
  const known: Schema.Struct.Fields = fields
  const fits = new Map(
    Object.entries(known).map(([name, field]) => [
      name,
      Schema.decodeUnknownResult(
        Schema.make<Schema.Codec<unknown>>(Schema.Struct({ [name]: field }).ast)
      )
    ])
  )
  const isTyped = ([name, value]: readonly [string, unknown]): boolean => {
    const decode = fits.get(name)
    return decode !== undefined && value !== undefined && Result.isSuccess(decode({ [name]: value }))
  }
  return JsonObject.pipe(
    Schema.decodeTo(
      Schema.Struct({ ...fields, extra: Schema.optional(JsonObject) }),
      SchemaTransformation.transform<any, any>({
        decode: decodeWith(ours, isTyped),
        encode: encodeWith(ours)
      })
    )
  ).annotate({ identifier })
}
