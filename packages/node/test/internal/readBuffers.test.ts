import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck, Scope } from "effect"
import { readBuffer, ReadBufferPool } from "../../src/internal/readBuffers.js"

describe("readBuffer", () => {
  it.prop("is as large as asked, and its memory its own", [FastCheck.integer({ min: 1, max: 70_000 })], ([size]) => {
    const buffer = readBuffer(size)
    assert.strictEqual(buffer.byteLength, size)
    assert.notStrictEqual(readBuffer(size).buffer, buffer.buffer)
  })

  it("does not begin where its block of memory does", () => {
    assert.isAtLeast(readBuffer(1_048_576).byteOffset, 16)
  })
})

describe("ReadBufferPool", () => {
  it.effect("gives the buffers of a scope that ended well to the next, and no two scopes the same", () =>
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
    it.effect(`never gives the buffers of one that ${what} again: they may still be filled or sent`, () =>
      Effect.gen(function*() {
        const pool = new ReadBufferPool(8)
        const scope = yield* Scope.make()
        const lost = yield* Scope.extend(pool.take, scope)
        yield* Scope.close(scope, exit)
        assert.notStrictEqual(yield* Effect.scoped(pool.take), lost)
      }))
  }
})
