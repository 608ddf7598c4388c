import { HttpApiBuilder, HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Fiber, Layer, Schedule } from "effect"
import { createServer } from "node:http"
import { Api, RecordingsLive } from "../../src/UploadFromRequest.js"

const bytes = new TextEncoder().encode("hello, this was said in the interview")
const source = UploadSources.fromBytes("interview.wav", bytes, { mediaType: "audio/wav" })

const serving = (faults: FaultScript.FaultScript = FaultScript.empty) =>
  HttpApiBuilder.serve().pipe(
    Layer.provide(HttpApiBuilder.api(Api).pipe(Layer.provide(RecordingsLive))),
    Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })),
    Layer.provideMerge(SandboxLayer.memory({ faults }))
  )

const origin = HttpServer.addressWith((address) =>
  Effect.succeed(address._tag === "TcpAddress" ? `http://127.0.0.1:${address.port}` : "")
)

const call = (path: string, init: RequestInit = {}) =>
  Effect.flatMap(origin, (at) => Effect.promise((signal) => fetch(at + path, { signal, ...init })))

const json = (response: Response) => Effect.promise((): Promise<unknown> => response.json())

const body = { method: "PUT", headers: { "content-type": "audio/wav" }, body: bytes }

describe("an upload from an HTTP request", () => {
  it.live("takes a form", () =>
    Effect.gen(function*() {
      const form = new FormData()
      form.set("recording", new File([bytes], "interview.wav", { type: "audio/wav" }))
      const response = yield* call("/recordings", { method: "POST", body: form })
      assert.strictEqual(response.status, 200)
      assert.include(yield* json(response), { name: "interview.wav", bytes: bytes.byteLength })
      yield* Sandbox.expectStored(source)
    }).pipe(Effect.provide(serving())))

  it.live("takes a body whose length is known, and one whose length is not", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* call("/recordings/interview.wav", body)).status, 200)
      yield* Sandbox.expectStored(source)
      const chunked = { ...body, body: new Blob([bytes]).stream(), duplex: "half" }
      assert.strictEqual((yield* call("/recordings/again.wav", chunked)).status, 200)
      assert.deepStrictEqual((yield* Sandbox.files).map(({ name }) => name).sort(), ["again.wav", "interview.wav"])
    }).pipe(Effect.provide(serving())))

  it.live("answers with the status of the error", () =>
    Effect.gen(function*() {
      const empty = yield* call("/recordings/empty.wav", { ...body, body: new Uint8Array() })
      assert.strictEqual(empty.status, 422)
      assert.include(yield* json(empty), { _tag: "EmptySource", kind: "input" })
      assert.strictEqual((yield* call("/recordings/interview.wav", body)).status, 502)
      assert.strictEqual((yield* call("/recordings/nothing.wav/progress")).status, 404)
    }).pipe(Effect.provide(serving(FaultScript.on("put").always().answer(403, "AccessDenied")))))

  it.live("tells its progress as server-sent events", () =>
    Effect.gen(function*() {
      const upload = yield* Effect.fork(call("/recordings/interview.wav", body))
      const events = yield* call("/recordings/interview.wav/progress").pipe(
        Effect.filterOrFail(({ status }) => status === 200),
        Effect.retry(Schedule.spaced("20 millis")),
        Effect.timeout("20 seconds")
      )
      assert.include(events.headers.get("content-type"), "text/event-stream")
      const text = yield* Effect.promise(() => events.text())
      assert.match(text, /^data: \{"phase":"\w+"/)
      assert.include(text.trimEnd().split("\n\n").at(-1), `"confirmed":${bytes.byteLength}`)
      assert.strictEqual((yield* upload).status, 200)
    }).pipe(Effect.provide(serving(FaultScript.on("put").delay("1 second")))))

  it.live("is stopped when the client goes away", () =>
    Effect.gen(function*() {
      const putIs = (wished: string) =>
        Sandbox.report.pipe(
          Effect.repeat({
            schedule: Schedule.spaced("20 millis"),
            until: ({ requests }) =>
              requests.some(({ operation, outcome }) => operation === "put" && outcome === wished)
          }),
          Effect.timeout("20 seconds")
        )
      const client = yield* Effect.fork(call("/recordings/interview.wav", body))
      yield* putIs("open")
      yield* Fiber.interrupt(client)
      yield* putIs("aborted")
      assert.deepStrictEqual(yield* Sandbox.files, [])
    }).pipe(Effect.provide(serving(FaultScript.on("put").delay("1 minute")))))
})
