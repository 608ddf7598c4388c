/** What the helper processes tell the one that started them. */
import * as Schema from "effect/Schema"

export const Told = Schema.Union(
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  Schema.TaggedStruct("Counted", {
    /** Of the bodies of PUT and PATCH. */
    bytes: Schema.Int,
    /** Of downloads. */
    sent: Schema.Int,
    requests: Schema.Int,
    connections: Schema.Int
  })
)

export type Told = typeof Told.Type

export type Counted = Extract<Told, { readonly _tag: "Counted" }>

export const decode = Schema.decodeUnknownOption(Told)
