import { assert, describe, it } from "@effect/vitest"
import { Either, Schema } from "effect"
import { closed, decodeKeeping } from "../../src/base/effect.js"

const Inner = Schema.Struct({ id: Schema.String })

const Outer = Schema.Struct({
  inner: Inner,
  list: Schema.Array(Inner),
  either: Schema.Union(Schema.Number, Inner),
  perhaps: Schema.optional(Inner),
  at: Schema.Date
})

const more = { id: "a", added: { by: ["the service"] } }

describe("fields that a Schema does not name", () => {
  it("are kept at any depth, beside what is decoded", () => {
    const wire = { inner: more, list: [more, more], either: more, perhaps: more, extra: null }
    const decoded = Either.getOrThrow(decodeKeeping(Outer)({ ...wire, at: "2030-01-01T00:00:00.000Z" }))
    assert.deepStrictEqual<unknown>(decoded, { ...wire, at: new Date("2030-01-01T00:00:00.000Z") })
  })

  it("do not let a field of another type pass", () => {
    assert.isTrue(Either.isLeft(decodeKeeping(Inner)({ id: 1, extra: "b" })))
  })

  it("are refused by a closed Schema, in both directions and inside another", () => {
    const own = closed(Inner)
    assert.isTrue(Either.isRight(Schema.decodeUnknownEither(own)({ id: "a" })))
    assert.isTrue(Either.isLeft(Schema.decodeUnknownEither(own)({ id: "a", di: "b" })))
    assert.isTrue(Either.isLeft(Schema.encodeUnknownEither(own)({ id: "a", di: "b" })))
    assert.isTrue(Either.isLeft(Schema.decodeUnknownEither(Schema.Array(own))([{ id: "a", di: "b" }])))
  })
})
