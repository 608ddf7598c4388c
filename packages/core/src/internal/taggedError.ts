import * as Schema from "effect/Schema"

/**
 * The base of an error of this package: a Schema that is identified by the package's name and the error's own.
 *
 * @internal
 */
export const TaggedError =
  <Self>() => <Tag extends string, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
    Schema.TaggedError<Self>(`@stevedore/core/${tag}`)(tag, fields)
