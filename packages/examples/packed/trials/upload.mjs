// A user's program in plain JavaScript: a file goes up to the sandbox over sockets, in parts, comes back, and is compared.
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { UploadLedger, Uploads } from "@stevedore/core"
import { FileSource, NodeDownloads, NodeStevedore } from "@stevedore/node"
import { ObjectStoreMemory, SandboxHttp } from "@stevedore/testing"
import { Console, Effect, Layer } from "effect"
import { createServer } from "node:http"

const listen = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { host: "127.0.0.1", port: 0 })

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-trial-" })
  const original = path.join(directory, "interview.bin")
  const copy = path.join(directory, "copy.bin")
  const bytes = new Uint8Array(12_000_000).map((_, index) => (index * 7 + (index >> 8)) % 251)
  yield* fs.writeFile(original, bytes)

  const sandbox = yield* SandboxHttp.serve({ api: yield* listen, storage: yield* listen })
  const file = yield* Effect.gen(function*() {
    const source = yield* FileSource.fromPath(original)
    const file = yield* Uploads.upload(source, { strategy: "multipart", parts: 2 })
    yield* NodeDownloads.toFile(file.id, copy)
    return file
  }).pipe(
    Effect.provide(NodeStevedore.layer({ baseUrl: sandbox.baseUrl, token: sandbox.token })),
    Effect.provide(UploadLedger.none)
  )
  if (Buffer.compare(yield* fs.readFile(copy), bytes) !== 0) {
    return yield* Effect.fail("what came back is not what went up")
  }
  const { breaches } = yield* sandbox.report
  if (breaches.length > 0) return yield* Effect.fail(`the contract was broken: ${breaches[0].message}`)
  yield* Console.log(`${bytes.length} bytes in ${file.sent.parts} parts, and back`)
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(Effect.provide(Layer.merge(NodeContext.layer, ObjectStoreMemory.layer())))
)
