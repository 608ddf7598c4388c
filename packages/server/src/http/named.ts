import type { FieldName } from "@stevedore/core/ServiceProfile"
import * as Predicate from "effect/Predicate"

type Fields = Readonly<Record<string, unknown>>

const placed = (fields: Fields, [name = "", ...inner]: ReadonlyArray<string>, value: unknown): Fields => {
  const before = fields[name]
  return {
    ...fields,
    [name]: inner.length === 0 ? value : placed(Predicate.isReadonlyRecord(before) ? before : {}, inner, value)
  }
}

/** The fields of a response under the names of a profile: the first of several, and with a dot, within objects. */
export const named = (values: ReadonlyArray<readonly [name: FieldName, value: unknown]>): Fields =>
  values.reduce<Fields>(
    (fields, [name, value]) => placed(fields, (typeof name === "string" ? name : name[0]).split("."), value),
    {}
  )
