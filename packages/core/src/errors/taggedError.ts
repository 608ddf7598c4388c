import type { YieldableError } from "effect/Cause"
import * as Schema from "effect/Schema"
import * as ErrorKind from "../ErrorKind.js"
import type { Recovering } from "../Recovery.js"

// HttpApiSchema reads it there. Importing that module for one symbol would add it to every page.
const httpStatus = Symbol.for("@effect/platform/HttpApiSchema/AnnotationStatus")

/**
 * The base of an error of this package: a Schema that is identified by the package's name and the error's own, with the
 * kind, the HTTP status and the recovery that the table of errors has for its tag. An error that knows more has a getter
 * of its own.
 */
export function TaggedError<Self>(): <Tag extends keyof typeof ErrorKind.table, Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: Fields
) =>
  & { readonly _tag: Tag }
  & Schema.Class<
    Self,
    Fields & {
      readonly _tag: Schema.tag<Tag>
      readonly kind: ErrorKind.FieldOf<Tag>
    },
    Schema.Struct.Encoded<
      Fields & {
        readonly _tag: Schema.tag<Tag>
        readonly kind: ErrorKind.FieldOf<Tag>
      }
    >,
    Schema.Struct.Context<Fields>,
    Schema.Struct.Constructor<
      Fields & { readonly kind: ErrorKind.FieldOf<Tag> }
    >,
    unknown,
    YieldableError & Recovering
  >
export function TaggedError(): (tag: keyof typeof ErrorKind.table, fields: Schema.Struct.Fields) => unknown {
  return (tag, fields) => {
    const [kind, status, recovery] = ErrorKind.table[tag]
    const base = Schema.TaggedError<object>(`@stevedore/core/${tag}`)(tag, {
      ...fields,
      kind: ErrorKind.field(kind)
    }, {
      [httpStatus]: status
    })
    Object.defineProperty(base.prototype, "recovery", { get: () => recovery, configurable: true })
    return base
  }
}
