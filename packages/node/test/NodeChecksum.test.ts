import { assert, describe, it } from "@effect/vitest"
import { Checksum } from "@stevedore/core"
import { NodeChecksum } from "@stevedore/node"
import { Effect, Layer } from "effect"
import * as fc from "effect/FastCheck"

describe("NodeChecksum.crc32", () => {
  it.prop(
    "equals core's CRC-32 for any division into chunks and any memory offset",
    [fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), fc.nat(7)],
    ([chunks, offset]) => {
      const running = NodeChecksum.crc32.begin()
      for (const chunk of chunks) {
        const moved = new Uint8Array(chunk.length + offset)
        moved.set(chunk, offset)
        running.update(moved.subarray(offset))
      }
      assert.strictEqual(running.value(), Checksum.ofBytes(Checksum.crc32, Buffer.concat(chunks)).value)
    }
  )

  it.prop(
    "combines the checksums of two parts into the checksum of the whole",
    [fc.uint8Array(), fc.uint8Array()],
    ([first, second]) => {
      const of = (bytes: Uint8Array) => Checksum.ofBytes(NodeChecksum.crc32, bytes).value
      assert.strictEqual(
        NodeChecksum.crc32.combine?.(of(first), of(second), second.length),
        of(Buffer.concat([first, second]))
      )
    }
  )
})

describe("NodeChecksum.layerInForce", () => {
  it.effect("has the native CRC-32 also where nothing is computed while sending", () =>
    Effect.gen(function*() {
      const algorithm = yield* Checksum.Algorithm
      assert.strictEqual(algorithm.begin, NodeChecksum.crc32.begin)
      assert.isFalse(algorithm.whileSending)
    }).pipe(Effect.provide(Layer.provide(NodeChecksum.layerInForce, Checksum.none))))
})
