import type * as Either from "effect/Either"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** Decodes with a Schema, and keeps the fields that it does not name, at any depth. */
export const decodeKeeping = <A, I>(
  schema: Schema.Schema<A, I>
): (value: unknown) => Either.Either<A, ParseResult.ParseError> =>
  Schema.decodeUnknownEither(schema, { onExcessProperty: "preserve" })

/** A Schema that refuses the fields that it does not name, wherever it is used. */
export const closed = <Fields extends Schema.Struct.Fields>(schema: Schema.Struct<Fields>): Schema.Struct<Fields> =>
  schema.annotations({ parseOptions: { onExcessProperty: "error" } })
