import * as Schema from "effect/Schema"
import * as ErrorKind from "../ErrorKind.js"
import type { Recovering } from "../Recovery.js"

const httpStatus = Symbol.for("@effect/platform/HttpApiSchema/AnnotationStatus")

type Table = typeof ErrorKind.table

export const TaggedError =
  <Self>() => <Tag extends keyof Table, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) => {
    const [, status, recovery] = ErrorKind.table[tag]
    const base = Schema.TaggedError<Self, Recovering>(`@stevedore/core/${tag}`)(
      tag,
      { ...fields, kind: ErrorKind.field<Table[Tag][0]>(ErrorKind.table[tag][0]) },
      { [httpStatus]: status }
    )
    Object.defineProperty(Reflect.get(Object(base), "prototype"), "recovery", {
      get: () => recovery,
      configurable: true
    })
    return base
  }
