import * as Arr from "effect/Array"
import * as Predicate from "effect/Predicate"
import * as EffectRecord from "effect/Record"
import * as Schema from "effect/Schema"
import { ExactNumber } from "../Json.js"

/** Whether a value is an object of JSON. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isReadonlyRecord(value) && !(value instanceof ExactNumber)

/** An object of JSON, whose names and values can be anything. It is not copied. */
export const JsonObject = /* #__PURE__ */ Schema.declare(
  isJsonObject,
  {
    identifier: "JsonObject",
    arbitrary: () => (fc) => fc.dictionary(fc.string(), fc.jsonValue()),
    pretty: () => (value) => JSON.stringify(value)
  }
)

const decodeWith =
  (ours: boolean, isTyped: (entry: readonly [string, unknown]) => boolean) =>
  (wire: Readonly<Record<string, unknown>>) => {
    const { extra, ...placed } = wire
    const displaced = ours && isJsonObject(extra) ? extra : undefined
    const [others, typed] = Arr.partition(Object.entries(displaced === undefined ? wire : placed), isTyped)
    const record = Object.fromEntries(typed)
    return others.length === 0 && displaced === undefined
      ? record
      : { ...record, extra: { ...Object.fromEntries(others), ...displaced } }
  }

const encodeWith = (ours: boolean) => ({ extra = {}, ...typed }: { readonly extra?: object | undefined }) => {
  const taken = (name: string) => Object.hasOwn(typed, name) || (ours && name === "extra")
  const [placed, displaced] = Arr.partition(Object.entries(extra), ([name]) => taken(name))
  return {
    ...typed,
    ...Object.fromEntries(placed),
    ...(displaced.length === 0 ? {} : { extra: Object.fromEntries(displaced) })
  }
}

/**
 * The Schema of a service's record, of which the interface shows nothing: whatever fields come, it decodes. A field is
 * typed if it has the type that is expected of it. Everything else, if there is any, is kept in `extra` as it came, and
 * returns to its place when the record is encoded. What has lost its place to a field of ours stays in `extra` there
 * too: `ours` says that the encoded form is one that we wrote, which may have such an `extra`.
 */
export const openRecord = <Fields extends Schema.Struct.Fields>(
  identifier: string,
  fields: Fields,
  { ours = false }: { readonly ours?: boolean } = {}
) => {
  const fits = EffectRecord.map(
    fields,
    (field, name) => Schema.decodeUnknownEither(Schema.make<unknown>(Schema.Struct({ [name]: field }).ast))
  )
  const isTyped = ([name, value]: readonly [string, unknown]) =>
    Object.hasOwn(fits, name) && value !== undefined && fits[name]?.({ [name]: value })._tag === "Right"
  return Schema.transform(JsonObject, Schema.Struct({ ...fields, extra: Schema.optional(JsonObject) }), {
    strict: false,
    decode: decodeWith(ours, isTyped),
    encode: encodeWith(ours)
  }).annotations({ identifier })
}
