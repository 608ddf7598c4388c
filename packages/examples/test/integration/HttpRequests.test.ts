import { Command, FileSystem, HttpApiBuilder, HttpServer } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { UploadSources } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Fiber, Layer, ManagedRuntime, Schedule } from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { appOf } from "../../src/UploadFromExpress.js"
import { Api, RecordingsLive } from "../../src/UploadFromRequest.js"

const page = readFileSync(new URL("../../../docs/guide/http-requests.md", import.meta.url), "utf8")

const lines = [...page.matchAll(/^curl .*$/gm)].map(([line]) => line)

const bytes = new TextEncoder().encode("hello, this was said in the interview")

const served = HttpApiBuilder.serve().pipe(
  Layer.provide(HttpApiBuilder.api(Api).pipe(Layer.provide(RecordingsLive))),
  Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(SandboxLayer.memory({ faults: FaultScript.on("put").after(1).delay("1 second") })),
  Layer.provideMerge(NodeContext.layer)
)

const asPrinted = (directory: string, line: string) =>
  Effect.flatMap(
    HttpServer.addressWith((address) => Effect.succeed(address._tag === "TcpAddress" ? String(address.port) : "")),
    (port) =>
      Command.make("sh", "-c", line.replace("localhost:3000", `127.0.0.1:${port}`)).pipe(
        Command.workingDirectory(directory),
        Command.string
      )
  )

describe("the guide to HTTP requests", () => {
  it.scopedLive("prints lines of curl that upload a form and a body, and show the progress", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFile(`${directory}/interview.wav`, bytes)
      assert.lengthOf(lines, 3)
      const [form = "", body = "", progress = ""] = lines
      assert.include(JSON.parse(yield* asPrinted(directory, form)), { name: "interview.wav", bytes: bytes.length })
      const upload = yield* Effect.fork(asPrinted(directory, body))
      const events = yield* asPrinted(directory, progress).pipe(
        Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (text) => text.startsWith("data:") }),
        Effect.andThen(asPrinted(directory, progress)),
        Effect.timeout("30 seconds")
      )
      assert.include(JSON.parse(yield* Fiber.join(upload)), { name: "interview.wav", bytes: bytes.length })
      assert.lengthOf(yield* Sandbox.files, 2)
      assert.isString(events)
    }).pipe(Effect.provide(served)))

  it.scopedLive("has an Express app that takes a body, and answers with the status of an error", () =>
    Effect.gen(function*() {
      const sandbox = yield* Layer.build(SandboxLayer.memory())
      const runtime = ManagedRuntime.make(Layer.succeedContext(sandbox))
      const origin = yield* Effect.acquireRelease(
        Effect.async<{ readonly origin: string; readonly close: () => void }>((resume) => {
          const server = appOf(runtime).listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" ? address?.port : undefined
            resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, close: () => server.close() }))
          })
        }),
        ({ close }) => Effect.sync(close)
      )
      const put = (name: string, body: Uint8Array<ArrayBuffer>) =>
        Effect.promise(async () => {
          const response = await fetch(`${origin.origin}/recordings/${name}`, { method: "PUT", body })
          return { status: response.status, body: await response.json() }
        })
      assert.deepInclude((yield* put("interview.wav", bytes)).body, { name: "interview.wav", bytes: bytes.length })
      assert.deepStrictEqual(yield* put("empty.wav", new Uint8Array()), {
        status: 422,
        body: { _tag: "EmptySource", kind: "input" }
      })
      yield* Effect.provide(Sandbox.expectStored(UploadSources.fromBytes("interview.wav", bytes)), sandbox)
    }))
})
