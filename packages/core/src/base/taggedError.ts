import * as Schema from "effect/Schema"
import * as ErrorKind from "../ErrorKind.js"

// HttpApiSchema reads it there. Importing that module for one symbol would add it to every page.
const httpStatus = Symbol.for("@effect/platform/HttpApiSchema/AnnotationStatus")

type Table = typeof ErrorKind.table

/**
 * The base of an error of this package: a Schema that is identified by the package's name and the error's own, with the
 * kind and the HTTP status that the table of kinds has for its tag.
 */
export const TaggedError =
  <Self>() => <Tag extends keyof Table, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
    Schema.TaggedError<Self>(`@stevedore/core/${tag}`)(
      tag,
      { ...fields, kind: ErrorKind.field<Table[Tag][0]>(ErrorKind.table[tag][0]) },
      { [httpStatus]: ErrorKind.table[tag][1] }
    )
