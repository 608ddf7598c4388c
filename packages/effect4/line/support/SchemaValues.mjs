// `Arbitrary.make` of Effect 3: arbitraries of fast-check whose values are those of a Schema. The generators of Effect 4
// are its own, do not mix with others, and know none of the Schemas that are declared here.
import { ExactNumber } from "@stevedore/core/Json"
import * as PresignedUrl from "@stevedore/core/PresignedUrl"
import * as Chunk from "effect/Chunk"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import fc from "fast-check"

const presigned = fc.webUrl({ withQueryParameters: true }).map(
  Schema.decodeUnknownSync(PresignedUrl.PresignedUrlFromString)
)

const durations = fc.oneof(
  fc.constant(Duration.infinity),
  fc.maxSafeNat().map(Duration.millis),
  fc.nat().map((nanos) => Duration.nanos(BigInt(nanos)))
)

// what the sources declare is known by its identifier, and what Effect does by that of its representation
const declared = {
  DateTime: () => fc.date({ noInvalidDate: true }).map(DateTime.fromDateUnsafe),
  JsonObject: () => fc.dictionary(fc.string(), fc.jsonValue()),
  PresignedUrl: () => presigned,
  PresignedUrlFromSelf: () => presigned,
  "effect/schema/Chunk": ([value]) => fc.array(value).map(Chunk.fromIterable),
  "effect/schema/Date": () => fc.date({ noInvalidDate: true }),
  "effect/schema/Duration": () => durations,
  "effect/schema/Option": ([value]) => fc.oneof(fc.constant(Option.none()), value.map(Option.some))
}

const filtersOf = (checks = []) =>
  checks.flatMap((check) => check.checks === undefined ? [check] : filtersOf(check.checks))

const constraintsOf = (ast) =>
  Object.assign({}, ...filtersOf(ast.checks).map((one) => one.annotations?.arbitraryConstraint))

const numbers = ({ maximum, minimum, number }) =>
  number === "integer"
    ? fc.integer({ min: minimum ?? Number.MIN_SAFE_INTEGER, max: maximum ?? Number.MAX_SAFE_INTEGER })
    : fc.double({
      ...(minimum === undefined ? {} : { min: minimum }),
      ...(maximum === undefined ? {} : { max: maximum }),
      noNaN: number === "finite" || minimum !== undefined || maximum !== undefined,
      noDefaultInfinity: number === "finite"
    })

const strings = ({ maxLength, minLength, patterns: [pattern] = [] }) =>
  pattern === undefined
    ? fc.oneof(
      fc.string({ minLength, maxLength }),
      fc.stringMatching(/^[a-z][a-z0-9]{0,9}$/).filter((text) => text.length >= (minLength ?? 0))
    )
    : fc.stringMatching(new RegExp(pattern.source, pattern.flags))

const arrays = ({ elements, rest: [rest] }, { maxLength, minLength = 0 }) => {
  const first = fc.tuple(...elements.map(valuesOf))
  if (rest === undefined) return first
  const more = fc.array(valuesOf(rest), {
    minLength: Math.max(0, minLength - elements.length),
    ...(maxLength === undefined ? {} : { maxLength: maxLength - elements.length })
  })
  return fc.tuple(first, more).map(([before, after]) => [...before, ...after])
}

const isOptional = ({ type }) => type.context?.isOptional === true

const objects = ({ indexSignatures, propertySignatures }) => {
  const named = fc.record(
    Object.fromEntries(propertySignatures.map(({ name, type }) => [name, valuesOf(type)])),
    { requiredKeys: propertySignatures.filter((one) => !isOptional(one)).map(({ name }) => name) }
  )
  const others = indexSignatures.map(({ parameter, type }) => fc.dictionary(valuesOf(parameter), valuesOf(type)))
  return others.length === 0 ? named : fc.tuple(...others, named).map((parts) => Object.assign({}, ...parts))
}

const declarations = (ast) => {
  const { identifier, representation, toCodec } = ast.annotations ?? {}
  const known = declared[identifier] ?? declared[representation?.id]
  if (known !== undefined) return known(ast.typeParameters.map(valuesOf))
  if (toCodec === undefined) return fc.constant(new ExactNumber("9007199254740993"))
  // a class is made of its fields
  const link = toCodec(ast.typeParameters.map((one) => Schema.make(SchemaAST.toType(one))))
  const decode = Schema.decodeUnknownSync(
    Schema.make(
      Object.create(
        Object.getPrototypeOf(ast),
        { ...Object.getOwnPropertyDescriptors(ast), encoding: { value: [link], enumerable: true } }
      )
    )
  )
  return valuesOf(SchemaAST.toType(link.to)).map((fields) => decode(fields))
}

const plain = (ast) => {
  switch (ast._tag) {
    case "Arrays":
      return arrays(ast, constraintsOf(ast))
    case "BigInt":
      return fc.bigInt()
    case "Boolean":
      return fc.boolean()
    case "Declaration":
      return declarations(ast)
    case "Literal":
      return fc.constant(ast.literal)
    case "Never":
      return undefined
    case "Null":
      return fc.constant(null)
    case "Number":
      return numbers(constraintsOf(ast))
    case "Objects":
      return objects(ast)
    case "String":
      return strings(constraintsOf(ast))
    case "Suspend":
      return fc.constant(ast).chain((one) => valuesOf(one.thunk()))
    case "Undefined":
      return fc.constant(undefined)
    case "Union":
      return fc.oneof(...ast.types.map(valuesOf).filter((one) => one !== undefined))
    case "Any":
    case "Unknown":
      return fc.anything()
    default:
      throw new Error(`No values are known for ${ast._tag}`)
  }
}

const known = new WeakMap()

const valuesOf = (ast) => {
  if (known.has(ast)) return known.get(ast)
  const isOne = Schema.is(Schema.make(ast))
  const all = plain(ast)
  const values = ast.checks === undefined ? all : all.filter((value) => isOne(value))
  known.set(ast, values)
  return values
}

export const make = (schema) => valuesOf(SchemaAST.toType(schema.ast))
