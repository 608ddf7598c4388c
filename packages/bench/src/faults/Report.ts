/** What a walking process tells the one that started it. */
import * as Schema from "effect/Schema"

export const Report = Schema.Union(
  Schema.TaggedStruct("Progress", { items: Schema.Int }),
  Schema.TaggedStruct("Ended", {
    /** Different items of the first walk, and of the second where there was one. */
    items: Schema.Int,
    again: Schema.optional(Schema.Int),
    duplicates: Schema.Int,
    error: Schema.optional(Schema.Struct({ name: Schema.String, message: Schema.String, isOwn: Schema.Boolean }))
  })
)

export type Report = typeof Report.Type

export const decode = Schema.decodeUnknownOption(Report)
