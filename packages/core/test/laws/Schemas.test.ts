import { assert, describe, it } from "@effect/vitest"
import * as Core from "@stevedore/core"
import { Arbitrary, Either, FastCheck, Option, Pretty, Schema, SchemaAST } from "effect"
import { runs } from "../../../testing/test/support/runs.js"

const isModule = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Reflect.get(value, Symbol.toStringTag) === "Module"

/** Also those of a module that another one exports whole. */
const schemasOf = (module: string, exports: object): ReadonlyArray<{ name: string; schema: Schema.Schema<unknown> }> =>
  Object.entries(exports).flatMap(([name, value]: [string, unknown]) =>
    Schema.isSchema(value)
      ? [{ name: `${module}.${name}`, schema: Schema.make<unknown>(value.ast) }]
      : isModule(value)
      ? schemasOf(`${module}.${name}`, value)
      : []
  )

const schemas = Object.entries(Core).flatMap(([module, exports]) => schemasOf(module, exports))

// Effect's unions make a text of a tag, which throws for an object with a toString of its own
const hasNoText = (value: unknown): boolean => JSON.stringify(value).includes(`"toString":`)

const junk = FastCheck.oneof(
  FastCheck.constantFrom(undefined, NaN, Infinity, -1, 0.5, 1e300, "", "NaN", "Infinity"),
  FastCheck.constantFrom({ _tag: "None" }, { _tag: "Some" }, [-1, 0]),
  FastCheck.jsonValue().filter((value) => !hasNoText(value))
)

/** Puts something else in the place that `at` leads to. */
const damage = (value: unknown, at: Iterator<number>, other: unknown): unknown => {
  if (typeof value !== "object" || value === null) return other
  const entries = Object.entries(value)
  const chosen = at.next().value % (entries.length + 1)
  if (chosen === entries.length) return other
  const damaged = entries.map(([key, one], index) => [key, index === chosen ? damage(one, at, other) : one])
  return Array.isArray(value) ? damaged.map(([, one]) => one) : Object.fromEntries(damaged)
}

// what another process takes an upload over by, or is told of it
const states = schemas.filter(({ name }) =>
  /^(Upload|SourceFingerprint|PartReceipt|FileRecord|Feasibility|Checksum)/.test(name)
)

describe("the public Schemas", () => {
  it("are found", () => {
    assert.isAbove(schemas.length, 80)
  })

  it("have names, or none", () => {
    const named = schemas.filter(({ schema }) => Option.isSome(SchemaAST.getIdentifierAnnotation(schema.ast)))
    assert.isAbove(named.length, 30)
    for (const { name, schema } of named) {
      assert.isTrue(Option.exists(SchemaAST.getIdentifierAnnotation(schema.ast), (one) => one !== ""), name)
    }
  })

  it.each(schemas)("$name has an arbitrary, whose values are valid", ({ schema }) => {
    const isOne = Schema.is(schema)
    FastCheck.assert(FastCheck.property(Arbitrary.make(schema), (value) => assert.isTrue(isOne(value))), {
      numRuns: runs(20)
    })
  })

  it.each(schemas)("$name can be printed", ({ schema }) => {
    const print = Pretty.make(schema)
    FastCheck.assert(
      FastCheck.property(Arbitrary.make(schema), (value) => assert.notStrictEqual(print(value), "")),
      { numRuns: runs(20) }
    )
  })

  it.each(states)("$name: an encoded value survives JSON", ({ schema }) => {
    const text = (value: unknown) => JSON.stringify(Schema.encodeSync(schema)(value))
    FastCheck.assert(
      FastCheck.property(Arbitrary.make(schema), (value) => {
        assert.strictEqual(text(Schema.decodeUnknownSync(schema)(JSON.parse(text(value)))), text(value))
      }),
      { numRuns: runs(200) }
    )
  })

  it.each(schemas)("$name: damaged input is an error, and throws nothing", ({ schema }) => {
    FastCheck.assert(
      FastCheck.property(
        Arbitrary.make(schema),
        FastCheck.infiniteStream(FastCheck.nat()),
        junk,
        (value, at, other) => {
          const damaged = damage(Schema.encodeSync(schema)(value), at, other)
          const decoded = Schema.decodeUnknownEither(schema)(damaged)
          assert.isTrue(Either.isRight(decoded) || decoded.left._tag === "ParseError")
        }
      ),
      { numRuns: runs(50) }
    )
  })
})
