import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, FastCheck as fc } from "effect"
import * as Flushes from "../../src/parts/flushes.js"
import { inVirtualTime } from "../fixtures/virtualTime.js"

const MiB = 1_048_576

/** A disk as a system has it: takes in a second what was written before, and tells an error once. */
const disk = (outcomes: ReadonlyArray<"taken" | "lost">) => {
  const state = { written: 0, safe: 0, asked: 0, underWay: 0, most: 0, lost: false }
  const flush = Effect.gen(function*() {
    const upTo = state.written
    const outcome = outcomes[state.asked++] ?? "taken"
    state.most = Math.max(state.most, ++state.underWay)
    yield* Effect.ensuring(Effect.sleep("1 second"), Effect.sync(() => state.underWay--))
    if (outcome === "lost") {
      state.lost = true
      return yield* Effect.fail("lost")
    }
    state.safe = upTo
  })
  return { state, flush }
}

describe("flushes", () => {
  it.effect.prop(
    "are one at a time beside the writes, and the last succeeds only if all is on the disk and none has failed",
    {
      outcomes: fc.array(fc.constantFrom<"taken" | "lost">("taken", "taken", "lost"), { maxLength: 8 }),
      writes: fc.array(
        fc.record({ bytes: fc.integer({ min: 1, max: 40 * MiB }), pause: fc.constantFrom(1, 300, 1_500) }),
        { maxLength: 30 }
      )
    },
    ({ outcomes, writes }) =>
      inVirtualTime(Effect.scoped(Effect.gen(function*() {
        const { flush, state } = disk(outcomes)
        const flushes = yield* Flushes.make(flush)
        const began = yield* Clock.currentTimeMillis
        yield* Effect.forEach(writes, ({ bytes, pause }) => {
          state.written += bytes
          return Effect.zipRight(flushes.wrote(bytes), Effect.sleep(pause))
        }, { discard: true })
        const paused = writes.reduce((sum, { pause }) => sum + pause, 0)
        assert.strictEqual((yield* Clock.currentTimeMillis) - began, paused)
        assert.strictEqual(state.asked > 0, state.written >= Flushes.FLUSH_BYTES)
        assert.isAtMost(state.asked, state.written / Flushes.FLUSH_BYTES)
        const ended = yield* Effect.exit(flushes.now)
        assert.strictEqual(Exit.isSuccess(ended), !state.lost)
        if (!state.lost) assert.strictEqual(state.safe, state.written)
        assert.strictEqual(state.most, 1)
        // whoever asks again is told again, though the disk no longer tells
        assert.strictEqual(Exit.isSuccess(yield* Effect.exit(flushes.now)), !state.lost)
      }))).pipe(Effect.asVoid)
  )
})
