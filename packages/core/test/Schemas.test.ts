import { assert, describe, it } from "@effect/vitest"
import * as Core from "@stevedore/core"
import { Arbitrary, FastCheck, Schema } from "effect"

const schemas = Object.entries(Core).flatMap(([module, exports]) =>
  Object.entries(exports).flatMap(([name, value]) =>
    Schema.isSchema(value) ? [{ name: `${module}.${name}`, schema: Schema.make<unknown>(value.ast) }] : []
  )
)

describe("the Schemas that are public", () => {
  it("are found", () => {
    assert.isAbove(schemas.length, 80)
  })

  it.each(schemas)("$name has an arbitrary, whose values are its own", ({ schema }) => {
    FastCheck.assert(FastCheck.property(Arbitrary.make(schema), Schema.is(schema)), { numRuns: 20 })
  })
})
