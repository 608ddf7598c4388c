import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import type { BandwidthLimit } from "@stevedore/core"
import { HttpObjectStorage, ObjectStorage } from "@stevedore/core"
import type { SourceBody } from "@stevedore/core/UploadSource"
import { NodeObjectStorage } from "@stevedore/node"
import { Effect, Layer, Record, Stream } from "effect"
import { createHash } from "node:crypto"
import { paced } from "../../core/src/storage/pacedBody.js"
import { url } from "./support/put.js"
import * as StorageServer from "./support/storageServer.js"
import * as Temporary from "./support/temporary.js"

const adapters = {
  "Node's own sockets": NodeObjectStorage.layer(),
  undici: Layer.provide(HttpObjectStorage.layer, NodeHttpClient.layerUndici)
}

const content = Temporary.distinct(200_000)

/** Memory that is filled anew for each chunk, as that of a file is. */
async function* reusing(memory: Uint8Array) {
  for (let from = 0; from < content.byteLength; from += memory.byteLength) {
    const chunk = content.subarray(from, from + memory.byteLength)
    memory.set(chunk)
    yield memory.subarray(0, chunk.byteLength)
  }
}

const bodies: Readonly<Record<SourceBody["_tag"], () => SourceBody>> = {
  BytesBody: () => ({ _tag: "BytesBody", bytes: content }),
  StreamBody: () => ({ _tag: "StreamBody", stream: Stream.rechunk(Stream.fromIterable([content]), 1) }),
  NativeBody: () => ({ _tag: "NativeBody", content: reusing(Buffer.alloc(30_000)) }),
  BlobBody: () => ({ _tag: "BlobBody", blob: new Blob([new Uint8Array(content)]), observed: Effect.void })
}

/** A limit that comes into force with the bytes that are written after those. */
const limitedAfter = (bytes: number) => {
  const asked: Array<number> = []
  let waited = 0
  const free = () => asked.reduce((sum, one) => sum + one, 0) < bytes
  const turns: Omit<BandwidthLimit.Pace, "body"> = {
    piece: () => free() ? 40_000 : 7000,
    before: (length) => {
      const goes = free()
      asked.push(length)
      return goes ? undefined : Effect.sync(() => {
        waited += length
      })
    }
  }
  const pace: BandwidthLimit.Pace = { ...turns, body: (body) => paced(body, turns) }
  return { asked, pace, waited: () => waited }
}

const put = (body: SourceBody, pace: BandwidthLimit.Pace) =>
  Effect.gen(function*() {
    const server = yield* StorageServer.serve(StorageServer.store)
    const storage = yield* ObjectStorage.ObjectStorage
    yield* storage.put({
      url: url(`${server.origin}/file`),
      section: {
        range: { offset: 0, length: content.byteLength },
        body: (observe) => Effect.as(Effect.sync(() => observe(content)), body)
      },
      name: "a.bin",
      headers: {},
      clockOffset: 0,
      attempt: 1,
      onSent: () => {},
      pace
    })
    return server.requests[0]?.sha256
  })

for (const [transport, live] of Record.toEntries(adapters)) {
  layer(live, { excludeTestServices: true })(`a limit over ${transport}`, (it) => {
    describe("is asked before each write, and changes no byte", () => {
      for (const [kind, body] of Record.toEntries(bodies)) {
        it.scoped(`of a ${kind}`, () =>
          Effect.gen(function*() {
            const { asked, pace, waited } = limitedAfter(60_000)
            const sha256 = yield* put(body(), pace).pipe(Effect.timeout("5 seconds"))
            assert.strictEqual(sha256, createHash("sha256").update(content).digest("hex"))
            assert.strictEqual(asked.reduce((sum, one) => sum + one, 0), content.byteLength)
            // what a client sends as a whole waits as a whole
            if (kind === "BlobBody" && transport === "undici") {
              return assert.deepStrictEqual(asked, [content.byteLength])
            }
            assert.isAtMost(Math.max(...asked), 40_000)
            assert.isAtMost(Math.max(...asked.slice(-15)), 7000)
            assert.isAtLeast(waited(), 100_000)
          }))
      }
    })
  })
}
