import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Inspectable, Layer, Logger, LogLevel, Option, Redacted, Tracer } from "effect"
import * as NodeServe from "../../src/NodeServe.js"
import * as Identifiers from "../../src/parts/identifiers.js"
import * as Tokens from "../../src/Tokens.js"

/** Everything that spans and logs are told, as text, in the order in which it was told. */
const listening = () => {
  const told: Array<string> = []
  const tell = (...things: ReadonlyArray<unknown>) =>
    void told.push(things.map((thing) => Inspectable.toStringUnknown(thing)).join(" "))
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind) => {
      tell("span", name)
      const attributes = new Map<string, unknown>()
      const span: Tracer.Span = {
        _tag: "Span",
        name,
        spanId: "span",
        traceId: Option.match(parent, { onNone: () => "trace", onSome: ({ traceId }) => traceId }),
        parent,
        context: Context.merge(context, Context.empty()),
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: (_, exit) => tell("end", name, Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""),
        attribute: (key, value) => {
          attributes.set(key, value)
          tell("attribute", name, key, value)
        },
        event: (event, _, more) => tell("event", name, event, more),
        addLinks: (more) => tell("links", name, more.map(({ attributes }) => attributes))
      }
      return span
    },
    context: (run) => run()
  })
  const logger = Logger.make(({ annotations, cause, message }) =>
    tell("log", message, Cause.pretty(cause), [...annotations])
  )
  return {
    told,
    layer: Layer.mergeAll(
      Logger.replace(Logger.defaultLogger, logger),
      Logger.minimumLogLevel(LogLevel.All),
      Layer.setTracer(tracer)
    )
  }
}

const asked = (token: Redacted.Redacted, method: string, url: string, body?: unknown) =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: { authorization: `Bearer ${Redacted.value(token)}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, text, location: response.headers.get("location") ?? "" }
  })

describe("spans and logs of a service", () => {
  it.live("say what is done, and hold no token, no pre-signed query, and nothing of another tenant", () => {
    const { layer, told } = listening()
    return Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-telemetry-" })
      const { baseUrl, token } = yield* Effect.provide(NodeServe.serve({ directory, download: "redirect" }), layer)
      const { token: stranger } = yield* Tokens.create({
        tenant: "umbrella",
        owner: { id: "eve", name: "Eve Foreign" }
      }).pipe(
        Effect.provide([NodeServe.tokens(directory), Identifiers.layerSecure])
      )
      const upload = (who: Redacted.Redacted, name: string) =>
        Effect.gen(function*() {
          const { text } = yield* asked(who, "POST", `${baseUrl}/v2/files/upload`, { name, size: 5 })
          const { data }: { readonly data: { readonly id: string; readonly upload_url: string } } = JSON.parse(text)
          const put = (body: string) =>
            Effect.promise(() =>
              fetch(data.upload_url, { method: "PUT", body, headers: { "x-amz-server-side-encryption": "aws:kms" } })
            )
          yield* put("too long")
          yield* put("hello")
          assert.strictEqual((yield* asked(who, "POST", `${baseUrl}/v2/files/${data.id}/upload/complete`)).status, 200)
          // the store refuses it, and tells why
          yield* put("EVIL!")
          const { location, status } = yield* asked(who, "GET", `${baseUrl}/v1/files/${data.id}/download`)
          assert.strictEqual(status, 302)
          assert.include(location, "X-Amz-Signature=")
          yield* Effect.promise(() => fetch(location))
          return { id: data.id, urls: [data.upload_url, location] }
        })
      const own = yield* upload(token, "takeover-plan.txt")
      const before = told.length
      // what a stranger asks for in the other's name is refused, and tells nothing of it
      const foreign = yield* upload(stranger, "notes.txt")
      for (
        const [method, path] of [
          ["GET", `/v1/files/${own.id}`],
          ["GET", `/v1/files/${own.id}/download`],
          ["DELETE", `/v1/files/${own.id}`],
          ["POST", `/v2/files/${own.id}/upload/complete`],
          ["GET", "/v1/files?page[limit]=1"]
        ] as const
      ) yield* asked(stranger, method, `${baseUrl}${path}`)
      yield* asked(Redacted.make("api.nobody-knows-this-token"), "GET", `${baseUrl}/v1/files`)
      // with the database away, each call fails with a cause
      yield* fs.remove(`${directory}/stevedore.db`)
      yield* asked(token, "GET", `${baseUrl}/v1/files/${own.id}`)

      const all = told.join("\n")
      for (
        const what of [
          "http.server PUT",
          "http.server POST",
          "/v1/files",
          "http.response.status_code 302",
          "sql.execute",
          "attribute http.server PUT request_id "
        ]
      ) {
        assert.include(all, what)
      }
      const signatures = [...own.urls, ...foreign.urls].map((url) =>
        new URL(url).searchParams.get("X-Amz-Signature") ?? ""
      )
      const secrets = [
        Redacted.value(token),
        Redacted.value(stranger),
        "nobody-knows",
        ...signatures,
        "X-Amz-",
        yield* fs.readFileString(`${directory}/signing-key`)
      ]
      for (const secret of secrets) {
        assert.isAbove(secret.length, 5)
        assert.notInclude(all, secret)
      }
      // names of files and owners are their tenant's alone
      for (const name of ["takeover-plan", "Eve Foreign"]) assert.notInclude(all, name)
      assert.notInclude(told.slice(before).join("\n"), "files/default/")
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
  }, 120_000)
})
