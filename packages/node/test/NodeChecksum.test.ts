import { assert, describe, it } from "@effect/vitest"
import { Checksum } from "@stevedore/core"
import { NodeChecksum } from "@stevedore/node"
import { Effect, Layer, Option } from "effect"
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

describe("NodeChecksum.named", () => {
  // of "123456789", as every description of the algorithm gives it
  it.effect.each<readonly [algorithm: string, checksum: string]>([
    ["crc32", "cbf43926"],
    ["crc32c", "e3069283"],
    ["crc64nvme", "ae8b14860a799888"],
    ["md5", "25f9e794323b453885f5181f1b624d0b"],
    ["sha1", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"],
    ["sha256", "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"]
  ])(
    "%s has its check value, in pieces too, and is available for URLs that demand it",
    ([name, expected]) =>
      Effect.gen(function*() {
        const known = yield* Checksum.Known
        for (
          const algorithm of [
            Option.getOrThrow(yield* NodeChecksum.named(name)),
            known.find((one) => one.name === name)
          ]
        ) {
          const running = algorithm?.begin()
          running?.update(Buffer.from("1234"))
          running?.update(Buffer.from("56789"))
          assert.strictEqual(Buffer.from(running?.value() ?? "", "base64").toString("hex"), expected)
        }
      }).pipe(Effect.provide(NodeChecksum.layerInForce))
  )
})
