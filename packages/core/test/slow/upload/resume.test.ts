import { assert, describe, it } from "@effect/vitest"
import { type Uploads } from "@stevedore/core"
import type * as UploadLedger from "@stevedore/core/UploadLedger"
import { Effect, FastCheck, Fiber, TestClock } from "effect"
import { runs } from "../../../../testing/test/support/runs.js"
import { distinct, openLedger, recognizable } from "../../fixtures/ledgers.js"
import { slowLine } from "../../fixtures/slowLine.js"
import {
  confirmed,
  inParts,
  killedAt,
  numbersOf,
  only,
  patiently,
  quietly,
  sandbox,
  source,
  succeeds,
  uploadWith
} from "../../fixtures/uploadResume.js"

describe("an interrupted upload", () => {
  it.effect.prop(
    "resumes after any number of parts, however often: right bytes, one session, no confirmed part put again",
    [
      FastCheck.integer({ min: 1, max: 30 }),
      FastCheck.integer({ min: 1, max: 6 }),
      FastCheck.array(FastCheck.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
        minLength: 1,
        maxLength: 3
      })
    ],
    ([parts, concurrency, kills]) =>
      Effect.gen(function*() {
        const { ledger } = yield* openLedger()
        const options = { ...inParts, parts, concurrency }
        const lost: Array<number> = []
        for (const kill of kills) {
          const before = yield* confirmed(ledger)
          const after = Math.floor(kill * (parts - before.length))
          yield* killedAt(ledger, after < parts ? { at: "receive", after } : { at: "begin" }, source, options)
          const now = yield* confirmed(ledger)
          assert.isAtLeast(now.length, before.length + after)
          const { put } = yield* only
          lost.push(put.filter(({ outcome, part }) => outcome === "answered" && !now.includes(part ?? 0)).length)
        }
        const known = yield* confirmed(ledger)
        const before = (yield* only).put.length
        const file = yield* succeeds(ledger, source, options)
        const { completed, initiated, put } = yield* only
        assert.strictEqual(initiated, 1)
        assert.lengthOf(completed, 1)
        assert.strictEqual(file.sent.parts, parts)
        const again = numbersOf(put.slice(before))
        const missing = Array.from({ length: parts }, (_, index) => index + 1).filter((part) => !known.includes(part))
        assert.deepStrictEqual(again, missing)
        assert.isAtMost(lost.reduce((sum, count) => sum + count, 0), concurrency * kills.length * kills.length)
      }).pipe(Effect.provide(sandbox()), quietly),
    { fastCheck: { numRuns: runs(15) } }
  )
})

/** Six of ten parts are in storage, and two minutes are left of twenty for the rest, on a slower connection. */
const withTwoMinutesLeft = (
  later: number,
  check: (
    ledger: UploadLedger.Service,
    upload: ReturnType<typeof uploadWith>
  ) => Effect.Effect<void, unknown, Uploads.Requirements>
) =>
  Effect.suspend(() => {
    let speed = 100_000
    return Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const large = recognizable(distinct(1_000_000))
      const oneByOne = { ...inParts, concurrency: 1 }
      yield* patiently(killedAt(ledger, { at: "receive", after: 6 }, large, oneByOne))
      yield* TestClock.adjust("18 minutes")
      speed = later
      yield* check(ledger, uploadWith(ledger, large, oneByOne))
    }).pipe(Effect.provide(slowLine(() => speed)(sandbox({ urlLifetime: "20 minutes" }))), quietly)
  })

describe("a connection that becomes too slow", () => {
  it.effect("fails the upload for that reason, and what storage has is kept for a faster connection", () => {
    let speed = 100_000
    const size = 10_000_000
    return Effect.gen(function*() {
      const { ledger } = yield* openLedger()
      const large = recognizable(distinct(size))
      const upload = uploadWith(ledger, large, { strategy: "multipart", parts: 100, concurrency: 1 })
      const fiber = yield* Effect.fork(Effect.flip(upload))
      yield* TestClock.adjust("1 minute")
      speed = 100
      assert.strictEqual((yield* patiently(Fiber.join(fiber)))._tag, "DeadlineUnreachable")
      const stored = yield* confirmed(ledger)
      assert.isAbove(stored.length, 30)
      speed = 100_000
      yield* patiently(upload)
      const { initiated, put } = yield* only
      assert.strictEqual(initiated, 1)
      // but for the one that was in flight, none twice
      assert.isAtMost(put.length, 101)
    }).pipe(Effect.provide(slowLine(() => speed)(sandbox())), quietly)
  })

  it.effect("does not fail the rest of an earlier run's session, if it is fast enough for a new one", () =>
    withTwoMinutesLeft(1500, (ledger, upload) =>
      Effect.gen(function*() {
        const file = yield* patiently(upload)
        assert.strictEqual(file.sent.sessions, 2)
        assert.deepStrictEqual(yield* ledger.unfinished, [])
      })))

  it.effect("leaves nothing of an earlier run's session if that fails: a faster connection needs a new one anyway", () =>
    withTwoMinutesLeft(100, (ledger, upload) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(patiently(upload)))._tag, "DeadlineUnreachable")
        assert.deepStrictEqual(yield* ledger.unfinished, [])
      })))
})
