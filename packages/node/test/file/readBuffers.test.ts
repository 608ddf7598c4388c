import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Scope } from "effect"
import { readBuffer, ReadBufferPool } from "../../src/file/readBuffers.js"

describe("readBuffer", () => {
  it.prop("has the requested size and its own memory", [FastCheck.integer({ min: 1, max: 70_000 })], ([size]) => {
    const buffer = readBuffer(size)
    assert.strictEqual(buffer.byteLength, size)
    assert.notStrictEqual(readBuffer(size).buffer, buffer.buffer)
  })

  it("starts at least 16 bytes into its memory block", () => {
    assert.isAtLeast(readBuffer(1_048_576).byteOffset, 16)
  })
})

describe("ReadBufferPool", () => {
  it.effect("reuses the buffers of a successful scope, and shares none between open scopes", () =>
    Effect.gen(function*() {
      const pool = new ReadBufferPool(8)
      const first = yield* Effect.scoped(pool.take)
      const scope = yield* Scope.make()
      const again = yield* Scope.extend(pool.take, scope)
      assert.strictEqual(again, first)
      const beside = yield* Effect.scoped(pool.take)
      assert.notStrictEqual(beside, first)
      assert.strictEqual(new Set([...first, ...beside].map(({ buffer }) => buffer)).size, 4)
      yield* Scope.close(scope, Exit.void)
    }))

  for (
    const [what, exit] of [["fails", Exit.fail("reset")], [
      "is interrupted",
      Exit.interrupt(Effect.runSync(Effect.fiberId))
    ]] as const
  ) {
    it.effect(`does not reuse the buffers of a scope that ${what}`, () =>
      Effect.gen(function*() {
        const pool = new ReadBufferPool(8)
        const scope = yield* Scope.make()
        const lost = yield* Scope.extend(pool.take, scope)
        yield* Scope.close(scope, exit)
        assert.notStrictEqual(yield* Effect.scoped(pool.take), lost)
      }))
  }
})
