import ts from "typescript"
import { all, call, property, renamedProperties, type Rendering, type Rewrite } from "../rule.js"
import { halves } from "../source.js"

const withoutEmptyType = (rendering: Rendering, node: ts.Node): string | undefined =>
  property(rendering, node, "contentType") === `""`
    ? renamedProperties(rendering, node, { contentType: undefined })
    : undefined

/** One of the two classes of a client's errors, which are one on 4, with a reason. */
const clientError: Rewrite = (node, rendering) => {
  const errors = rendering.need("effect/http/HttpClientError")
  if (!ts.isNewExpression(node)) return halves(node) === undefined ? undefined : `${errors}.HttpClientError`
  const [given] = node.arguments ?? []
  const reason = property(rendering, given, "reason")
  if (reason === undefined || !reason.startsWith(`"`)) return undefined
  return `new ${errors}.HttpClientError({ reason: new ${errors}.${reason.slice(1, -1)}Error(${
    renamedProperties(rendering, given, { reason: undefined })
  }) })`
}

/** What a store does not have is undefined on 4. */
const asOption: Rewrite = (node, rendering) =>
  ts.isCallExpression(node)
    ? `${rendering.need("effect/Effect")}.map(${rendering.render(node.expression)}(${
      all(rendering, node.arguments)
    }), ${rendering.need("effect/Option")}.fromNullishOr)`
    : undefined

/** Rules for what is in `@effect/platform` on 3. */
export const platformRules: ReadonlyArray<readonly [member: string, Rewrite]> = [
  [
    "@effect/platform-node/NodeKeyValueStore.layerFileSystem",
    call((args, rendering) =>
      `${rendering.need("effect/Layer")}.provide(${
        rendering.need("effect/persistence/KeyValueStore")
      }.layerFileSystem(${all(rendering, args)}), ${rendering.need("@effect/platform-node/NodeServices")}.layer)`
    )
  ],
  [
    "@effect/platform/Error.SystemError",
    (node, rendering) => {
      const errors = rendering.need("effect/PlatformError")
      if (!ts.isNewExpression(node)) return halves(node) === undefined ? undefined : `${errors}.PlatformError`
      return `${errors}.systemError(${renamedProperties(rendering, node.arguments?.[0], { reason: "_tag" })})`
    }
  ],
  ["@effect/platform/FileSystem.FileDescriptor", call((args, rendering) => all(rendering, args))],
  [
    "@effect/platform/Headers.remove",
    call((args, rendering) => {
      const headers = rendering.need("effect/http/Headers")
      const names = args.at(-1)
      const isList = names !== undefined &&
        rendering.checker.isArrayLikeType(rendering.checker.getTypeAtLocation(names))
      return `${headers}.${isList ? "removeMany" : "remove"}(${all(rendering, args)})`
    })
  ],
  [
    "@effect/platform/HttpApp.Default",
    (node, rendering) => {
      if (!ts.isTypeReferenceNode(node)) return undefined
      const { need, render } = rendering
      const [error, services] = node.typeArguments ?? []
      const request = `${need("effect/http/HttpServerRequest")}.HttpServerRequest`
      return `${need("effect/Effect")}.Effect<${need("effect/http/HttpServerResponse")}.HttpServerResponse, ${
        error === undefined ? "never" : render(error)
      }, ${services === undefined ? request : `${request} | ${render(services)}`}>`
    }
  ],
  [
    "@effect/sql/Migrator.MigrationError",
    (node, rendering) => {
      const migrator = rendering.need("effect/sql/Migrator")
      if (!ts.isNewExpression(node)) return halves(node) === undefined ? undefined : `${migrator}.MigrationError`
      const [given] = node.arguments ?? []
      const kind = { "\"failed\"": "Failed", "\"bad-state\"": "BadState" }[property(rendering, given, "reason") ?? ""]
      return kind &&
        `new ${migrator}.MigrationError({ kind: "${kind}", message: ${property(rendering, given, "message")} })`
    }
  ],
  [
    "@effect/platform/HttpBody.raw",
    call((args, rendering) =>
      `${rendering.need("effect/http/HttpBody")}.raw(${
        args.map((one) => withoutEmptyType(rendering, one) ?? rendering.render(one)).join(", ")
      })`
    )
  ],
  // an empty content type is none on 3, and is sent on 4
  [
    "@effect/platform/HttpBody.stream",
    call(([body, type, length], { need, render }) =>
      body && type && length && type.getText() === `""`
        ? `${need("effect/http/HttpBody")}.stream(${render(body)}, undefined, ${render(length)})`
        : undefined
    )
  ],
  [
    "@effect/platform/HttpClient.withTracerDisabledWhen",
    call((args, { need, render }) => {
      const client = need("effect/http/HttpClient")
      const effect = need("effect/Effect")
      const when = args.at(-1)
      if (when === undefined) return undefined
      const untraced = `${effect}.provideService(${client}.TracerDisabledWhen, ${render(when)})`
      const [own] = args
      return args.length === 1
        ? `${client}.transformResponse(${untraced})`
        : own && `${client}.transformResponse(${render(own)}, ${untraced})`
    })
  ],
  [
    "@effect/platform/HttpClientError.#_tag",
    (node, { render }) =>
      ts.isPropertyAccessExpression(node)
        ? `(${render(node.expression)}.response === undefined ? "RequestError" : "ResponseError")`
        : undefined
  ],
  [
    "@effect/platform/HttpClientError.#reason",
    (node, { render }) =>
      ts.isPropertyAccessExpression(node)
        ? `${render(node.expression)}.reason._tag.replace(/Error$/, "")`
        : undefined
  ],
  ["@effect/platform/HttpClientError.RequestError", clientError],
  ["@effect/platform/HttpClientError.ResponseError", clientError],
  // on 4, this takes away a length that the body does not know; on 3 only an empty one has none
  [
    "@effect/platform/HttpServerResponse.setBody",
    call(([response, body], { need, render }) => {
      const responses = need("effect/http/HttpServerResponse")
      return response === undefined || body === undefined || body.getText() === "HttpBody.empty"
        ? undefined
        : `((self) => ${responses}.setHeaders(${responses}.setBody(self, ${render(body)}), self.headers))(${
          render(response)
        })`
    })
  ],
  [
    "@effect/platform/HttpIncomingMessage.withMaxBodySize",
    call(([size], { need, render }) => {
      const [bytes] = size !== undefined && ts.isCallExpression(size) ? size.arguments : []
      return bytes &&
        `${need("effect/Effect")}.provideService(${need("effect/http/HttpIncomingMessage")}.MaxBodySize, ${
          render(bytes)
        })`
    })
  ],
  [
    "@effect/platform/KeyValueStore.KeyValueStore#forSchema",
    call((args, rendering, node) =>
      ts.isPropertyAccessExpression(node.expression)
        ? `${rendering.need("effect/persistence/KeyValueStore")}.toSchemaStore(${
          rendering.render(node.expression.expression)
        }, ${all(rendering, args)})`
        : undefined
    )
  ],
  ["@effect/platform/KeyValueStore.KeyValueStore#get", asOption],
  ["@effect/platform/KeyValueStore.KeyValueStore#getUint8Array", asOption]
]
