import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { BandwidthLimit, HttpObjectStorage, ObjectStorage } from "@stevedore/core"
import type { SourceBody } from "@stevedore/core/UploadSource"
import { NodeObjectStorage } from "@stevedore/node"
import { Effect, FastCheck, Layer, Record, Stream } from "effect"
import { createHash } from "node:crypto"
import { WritePace } from "../../src/file/writePace.js"
import { url } from "../support/put.js"
import * as StorageServer from "../support/storageServer.js"
import * as Temporary from "../support/temporary.js"

const least = 262_144
const most = 524_288

/** The pieces of each block, taken in so many milliseconds of a clock of its own. */
const take = (blocks: ReadonlyArray<Uint8Array>, milliseconds: (piece: number) => number) => {
  let now = 0
  const pace = new WritePace(() => now)
  return blocks.map((block) => {
    const pieces: Array<Uint8Array> = []
    for (const piece of pace.pieces(block)) {
      pieces.push(piece)
      now += milliseconds(pieces.length - 1)
    }
    return pieces
  })
}

const sizes = (blocks: ReadonlyArray<Uint8Array>, milliseconds: (piece: number) => number) =>
  take(blocks, milliseconds).flat().map(({ byteLength }) => byteLength)

const block = (bytes: number) => new Uint8Array(bytes)

describe("WritePace", () => {
  it.prop(
    "yields every byte once and in order, as views of the given memory, at any pace",
    [
      FastCheck.array(FastCheck.integer({ min: 0, max: 3 * least }), { maxLength: 4 }),
      FastCheck.array(FastCheck.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 5 })
    ],
    ([lengths, paces]) => {
      const blocks = lengths.map(block)
      take(blocks, (piece) => paces[piece % paces.length] ?? 0).forEach((pieces, index) => {
        let end = 0
        for (const piece of pieces) {
          assert.strictEqual(piece.buffer, blocks[index]?.buffer)
          assert.strictEqual(piece.byteOffset, end)
          assert.isAtLeast(piece.byteLength, 1)
          assert.isAtMost(piece.byteLength, most)
          end += piece.byteLength
        }
        assert.strictEqual(end, blocks[index]?.byteLength)
      })
    }
  )

  it("starts with the smallest size, and only the last piece of a block is smaller", () => {
    assert.deepStrictEqual(sizes([block(most + 1)], () => 1000), [least, least, 1])
  })

  it("grows while writes are quick, and keeps the size for the next block", () => {
    assert.deepStrictEqual(sizes([block(2 * most), block(2 * most)], () => 1), [least, most, least, most, most])
  })

  it("keeps the piece size at a medium pace", () => {
    assert.deepStrictEqual(sizes([block(4 * least)], (piece) => piece === 0 ? 1 : 100), [least, most, least])
    assert.deepStrictEqual(sizes([block(3 * least)], () => 100), [least, least, least])
  })

  it("uses the smallest size after a slow write", () => {
    assert.deepStrictEqual(sizes([block(3 * most)], (piece) => piece === 1 ? 201 : 1), [least, most, least, most])
  })
})

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
  const pace: BandwidthLimit.Pace = {
    // own sockets ask before each write, and not this
    body: Effect.succeed,
    piece: () => free() ? 40_000 : 7000,
    before: (length) => {
      const goes = free()
      asked.push(length)
      return goes ? undefined : Effect.sync(() => {
        waited += length
      })
    }
  }
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

const sha256 = createHash("sha256").update(content).digest("hex")

layer(NodeObjectStorage.layer(), { excludeTestServices: true })("a limit over Node's own sockets", (it) => {
  describe("is asked before each write, and changes no byte", () => {
    for (const [kind, body] of Record.toEntries(bodies)) {
      it.scoped(`of a ${kind}`, () =>
        Effect.gen(function*() {
          const { asked, pace, waited } = limitedAfter(60_000)
          assert.strictEqual(yield* put(body(), pace), sha256)
          assert.strictEqual(asked.reduce((sum, one) => sum + one, 0), content.byteLength)
          assert.isAtMost(Math.max(...asked), 40_000)
          assert.isAtMost(Math.max(...asked.slice(-15)), 7000)
          assert.isAtLeast(waited(), 100_000)
        }))
    }
  })
})

const undici = Layer.provide(HttpObjectStorage.layer, NodeHttpClient.layerUndici)

layer(undici, { excludeTestServices: true })("a limit over undici", (it) => {
  describe("makes a body wait, and changes no byte", () => {
    for (const [kind, body] of Record.toEntries(bodies)) {
      it.scoped(`of a ${kind}`, () =>
        Effect.gen(function*() {
          const waits: Array<boolean> = []
          const limit = yield* BandwidthLimit.make({ rate: 1_000_000 })
          const pace = limit.pace((waiting) => waits.push(waiting)) ?? assert.fail("It has no pace")
          assert.strictEqual(yield* put(body(), pace), sha256)
          assert.deepStrictEqual(waits.slice(0, 2), [true, false])
          // what a client sends as a whole waits as a whole
          assert.strictEqual(waits.length === 2, kind === "BlobBody")
        }))
    }
  })
})
