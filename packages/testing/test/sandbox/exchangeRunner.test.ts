import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Schema, TestClock } from "effect"
import { Exchange, Fault, Sandbox, SandboxHttp } from "../../src/index.js"
import * as Calls from "../Calls.js"

type Program = Effect.Effect<unknown, unknown, Calls.Requirements>

const hello = Calls.bytesOf("hello")

const Link = Schema.Struct({ data: Schema.Struct({ url: Schema.String }) })

const stored = Effect.tap(Calls.initiate(5), ({ url }) => Calls.put(url, hello))

const link = Effect.flatMap(Calls.uploaded("hello"), (id) =>
  Effect.flatMap(
    Calls.json("GET", `/v1/files/${id}/download`),
    ({ body }) => Schema.decodeUnknown(Link)(body)
  ))

const opened = Effect.map(Calls.initiateLarge(5, 1), ({ id, uploadId, urls: [url = ""] }) => ({ id, uploadId, url }))

// each reads the whole answer, and asks for what it is named after only once
const requests: Readonly<Record<Exchange.Operation, Program>> = {
  initiate: Calls.initiate(5),
  initiateLarge: opened,
  put: stored,
  putPart: Effect.flatMap(opened, ({ url }) => Calls.putPart(url, hello)),
  complete: Effect.flatMap(stored, ({ id }) => Calls.json("POST", `/v2/files/${id}/upload/complete`)),
  completeLarge: Effect.flatMap(
    opened,
    ({ id, uploadId, url }) =>
      Effect.flatMap(
        Calls.putPart(url, hello),
        ({ headers }) =>
          Calls.json("POST", `/v2/files/${id}/large-upload/complete`, {
            upload_id: uploadId,
            parts: [{ part_number: 1, etag: headers["etag"] }]
          })
      )
  ),
  file: Effect.flatMap(Calls.uploaded("hello"), (id) => Calls.json("GET", `/v1/files/${id}`)),
  download: link,
  list: Calls.json("GET", "/v1/projects"),
  get: Effect.flatMap(link, ({ data }) => Calls.storage("GET", data.url)),
  tokenInfo: Calls.json("GET", "/v1/token/info"),
  importFile: Effect.flatMap(
    Calls.uploaded("hello"),
    (id) => Calls.json("POST", "/v1/data/import/file", { file_id: id, project_id: "p1" })
  )
}

/** What becomes of a request that meets a fault, for the client and in the report. */
const observed = (operation: Exchange.Operation, fault: Fault.Fault, program: Program = requests[operation]) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(program)
    yield* TestClock.adjust("1 day")
    const exit = yield* Fiber.poll(fiber)
    yield* Fiber.interrupt(fiber)
    const report = yield* Sandbox.report
    return {
      client: Option.match(exit, {
        onNone: () => "silence",
        onSome: (ended) => Exit.isSuccess(ended) ? "an answer" : "broken"
      }),
      outcomes: report.requests.filter((request) => request.operation === operation).map(({ outcome }) => outcome)
    }
  }).pipe(Effect.provide(Layer.provideMerge(
    SandboxHttp.layerClient,
    Sandbox.layerMemory({
      minimumPartSize: 1,
      download: "link",
      interceptor: (exchange) => Effect.succeed(exchange.operation === operation ? Option.some(fault) : Option.none())
    })
  )))

describe("ExchangeRunner", () => {
  for (const operation of Exchange.Operation.literals) {
    // within a body, at its first byte, and behind the end of any
    it.effect(`${operation}: applies a body fault at any offset, even past the end of the body`, () =>
      Effect.gen(function*() {
        for (const afterBytes of [1, 0, 1_000_000]) {
          assert.deepStrictEqual(
            yield* observed(operation, new Fault.Reset({ afterBytes })),
            { client: "broken", outcomes: ["broken"] }
          )
          assert.deepStrictEqual(
            yield* observed(operation, new Fault.Stall({ phase: "body", afterBytes })),
            { client: "silence", outcomes: ["aborted"] }
          )
        }
      }))
  }

  it.effect("applies a body fault even to a request that is rejected before its body is read", () =>
    Effect.gen(function*() {
      const unsigned = Effect.flatMap(Calls.initiate(5), ({ url }) => Calls.put(url.slice(0, -1), hello))
      assert.deepStrictEqual(
        yield* observed("put", new Fault.Reset({ afterBytes: 1 }), unsigned),
        { client: "broken", outcomes: ["broken"] }
      )
    }))

  it.effect("applies a body fault to a HEAD, which has no body, in place of its response", () =>
    Effect.gen(function*() {
      const head = Effect.flatMap(link, ({ data }) => Calls.storage("HEAD", data.url))
      assert.deepStrictEqual(
        yield* observed("get", new Fault.Reset({ afterBytes: 1 }), head),
        { client: "broken", outcomes: ["broken"] }
      )
    }))
})
