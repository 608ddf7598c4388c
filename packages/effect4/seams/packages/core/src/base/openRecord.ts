import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

export const openRecord = <const Fields extends Schema.Struct.Fields>(
  identifier: string,
  fields: Fields,
  { ours = false }: { readonly ours?: boolean } = {}
) => {
  const known: Schema.Struct.Fields = fields
  const fits = new Map(
    Object.entries(known).map(([name, field]) => [
      name,
      Schema.decodeUnknownResult(
        Schema.make<Schema.Codec<unknown>>(Schema.Struct({ [name]: field }).ast)
      )
    ])
  )
  const isTyped = ([name, value]: readonly [string, unknown]): boolean => {
    const decode = fits.get(name)
    return decode !== undefined && value !== undefined && Result.isSuccess(decode({ [name]: value }))
  }
  return JsonObject.pipe(
    Schema.decodeTo(
      Schema.Struct({ ...fields, extra: Schema.optional(JsonObject) }),
      SchemaTransformation.transform<any, any>({
        decode: decodeWith(ours, isTyped),
        encode: encodeWith(ours)
      })
    )
  ).annotate({ identifier })
}
