import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect, Redacted, Stream } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { counted } from "./support/steps.js"
import * as StorageServer from "./support/storageServer.js"
import * as Temporary from "./support/temporary.js"

const size = 10_240

/** Opens, stores and completes, in this process, but without any Effect. */
const answers = (origin: () => string) => async ({ drain, received, response }: StorageServer.Context) => {
  await drain()
  if (received.method === "PUT") return void response.writeHead(200, { etag: `"${received.sha256}"` }).end()
  const data = received.target.endsWith("/upload")
    ? { id: "f", upload_url: `${origin()}/object?X-Amz-Expires=3600&X-Amz-Date=20300101T000000Z` }
    : {}
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data }))
}

/** What a file takes beyond one: the difference between many and few, by the number of files between them. */
const perFile = (ledger: NodeStevedore.LedgerOptions) =>
  Effect.gen(function*() {
    let origin = ""
    const server = yield* StorageServer.serve(answers(() => origin))
    origin = server.origin
    const folder = yield* Temporary.directory
    const node = NodeStevedore.layer({ baseUrl: origin, token: Redacted.make("api.loopback"), ...ledger })
    const upload = (from: number, count: number) =>
      Effect.gen(function*() {
        const paths = Array.from({ length: count }, (_, index) => join(folder, `${from + index}.bin`))
        yield* Effect.promise(() => Promise.all(paths.map((path) => Fs.writeFile(path, Temporary.distinct(size)))))
        return yield* counted(
          Stream.fromIterable(paths).pipe(
            Stream.mapEffect((path) => FileSource.fromPath(path)),
            Uploads.uploadAllWith({ files: 16 }),
            Stream.filter((outcome) => outcome._tag === "Uploaded"),
            Stream.runCount
          )
        )
      })
    const [[few, before], [many, after]] = yield* Effect.all([upload(0, 32), upload(100, 132)]).pipe(
      Effect.provide(node)
    )
    assert.deepStrictEqual([few, many], [32, 132])
    assert.strictEqual(server.requests.length, 3 * 164)
    return { steps: (after.steps - before.steps) / 100, fibers: (after.fibers - before.fibers) / 100 }
  })

describe("a small file", () => {
  it.scopedLive("takes no more steps and fibers than it may", () =>
    Effect.gen(function*() {
      const { fibers, steps } = yield* perFile({ ledger: false })
      assert.isAtMost(steps, 1160)
      assert.isAtMost(fibers, 2)
    }))

  it.scopedLive("takes a fiber more for each time that it waits for the ledger on disk", () =>
    Effect.gen(function*() {
      const directory = join(yield* Temporary.directory, "ledger")
      const { fibers, steps } = yield* perFile({ ledger: { directory } })
      assert.isAtMost(steps, 1900)
      assert.isAtMost(fibers, 7)
    }))
})
