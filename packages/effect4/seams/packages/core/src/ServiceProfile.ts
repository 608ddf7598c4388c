import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A field that may be left out, of what is decoded and of what is constructed. */
type Defaulted<A, I> = Schema.Codec<A, I | undefined> & Schema.WithoutConstructorDefault & {
  readonly "~type.make.in": A
  readonly "~encoded.optionality": "optional"
}

const withDefault = <A, I>(
  schema: Schema.Codec<A, I>,
  value: () => A
): Schema.withConstructorDefault<Defaulted<A, I>> => {
  const decoded = Schema.make<Defaulted<A, I>>(schema.pipe(Schema.withDecodingDefaultType(Effect.sync(value))).ast)
  return Schema.withConstructorDefault<Defaulted<A, I>>(Effect.sync(value))(decoded)
}
