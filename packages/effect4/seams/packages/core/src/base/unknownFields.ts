import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

const others = (ast: SchemaAST.Objects): SchemaAST.AST => {
  const named = new Set(ast.propertySignatures.map(({ name }) => name))
  return Schema.String.check(Schema.makeFilter((key) => !named.has(key))).ast
}

// On 4 an index signature is what says that a struct has more fields than it names
const withOthers = (type: SchemaAST.AST) => (ast: SchemaAST.AST): SchemaAST.AST => {
  const encoding = ast.encoding?.map(({ to, transformation }) =>
    new SchemaAST.Link(withOthers(type)(to), transformation)
  )
  const own = Object.create(Object.getPrototypeOf(ast), Object.getOwnPropertyDescriptors(ast))
  const change = (values: object) => Object.assign(own, encoding === undefined ? {} : { encoding }, values)
  switch (ast._tag) {
    case "Objects":
      return change({
        propertySignatures: ast.propertySignatures.map((one) =>
          new SchemaAST.PropertySignature(one.name, withOthers(type)(one.type))
        ),
        indexSignatures: ast.indexSignatures.length > 0
          ? ast.indexSignatures.map((one) => new SchemaAST.IndexSignature(one.parameter, withOthers(type)(one.type)))
          : [new SchemaAST.IndexSignature(others(ast), type)]
      })
    case "Arrays":
      return change({ elements: ast.elements.map(withOthers(type)), rest: ast.rest.map(withOthers(type)) })
    case "Union":
      return change({ types: ast.types.map(withOthers(type)) })
    case "Suspend":
      return change({ thunk: () => withOthers(type)(ast.thunk()) })
    default:
      return change({})
  }
}

export const decodeKeeping = <A, I>(
  schema: Schema.Codec<A, I>
): (value: unknown) => Result.Result<A, Schema.SchemaError> =>
  Schema.decodeUnknownResult(Schema.make<Schema.Codec<A, I>>(withOthers(SchemaAST.unknown)(schema.ast)))

export const closed = <Fields extends Schema.Struct.Fields>(schema: Schema.Struct<Fields>): Schema.Struct<Fields> =>
  schema.rebuild(
    new SchemaAST.Objects(
      schema.ast.propertySignatures,
      [new SchemaAST.IndexSignature(others(schema.ast), SchemaAST.never)],
      schema.ast.annotations,
      schema.ast.checks,
      schema.ast.encoding,
      schema.ast.context
    )
  )
