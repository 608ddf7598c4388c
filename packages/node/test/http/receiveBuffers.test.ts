import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { ReceiveBuffers } from "../../src/http/receiveBuffers.js"

const step = fc.oneof(
  fc.record({ kind: fc.constant("read" as const), length: fc.integer({ min: 1, max: 40_000 }) }),
  fc.record({ kind: fc.constant("take" as const) }),
  fc.record({ kind: fc.constant("resize" as const) })
)

describe("ReceiveBuffers", () => {
  it.effect.prop(
    "returns all bytes in order and intact, however reads and takes alternate, even if no room is free",
    [fc.array(step, { maxLength: 40 })],
    ([steps]) =>
      Effect.sync(() => {
        const buffers = new ReceiveBuffers(2, 32_768)
        let written = 0
        let seen = 0
        let inUse: Buffer | undefined
        const check = () => {
          inUse?.forEach((byte, index) => {
            if (byte !== (seen + index) % 251) assert.fail(`byte ${seen + index} was overwritten`)
          })
          seen += inUse?.byteLength ?? 0
          inUse = undefined
        }
        for (const one of steps) {
          if (one.kind === "resize") buffers.resize(3, 65_536)
          else if (one.kind === "take") {
            check()
            inUse = buffers.take()
          } else {
            const { room } = buffers
            assert.isAtLeast(room.byteLength, 16_384)
            const length = Math.min(one.length, room.byteLength)
            for (let index = 0; index < length; index++) room[index] = written++ % 251
            buffers.hold(buffers.read(length))
            buffers.advance()
          }
        }
        check()
        for (let last = buffers.take(); last !== undefined; last = buffers.take()) {
          inUse = last
          check()
        }
        assert.strictEqual(seen, written)
      })
  )

  it("reports no free room while all blocks are in use, and reports it once one is given back", () => {
    const buffers = new ReceiveBuffers(2, 16_384)
    buffers.hold(buffers.read(16_384))
    assert.isFalse(buffers.advance())
    assert.strictEqual(buffers.take()?.byteLength, 16_384)
    assert.isFalse(buffers.hasFree)
    buffers.giveBack()
    assert.isTrue(buffers.hasFree)
  })
})
