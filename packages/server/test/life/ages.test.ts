import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, TestClock } from "effect"
import * as Ages from "../../src/life/ages.js"

const DAY = 86_400_000

/** A table whose clock is away from the time that passes, as if it were set, and what it keeps. */
const table = Effect.map(Effect.clock, (clock) => {
  const said: Array<string> = []
  let kept = {}
  let away = 0
  const now = () => clock.unsafeCurrentTimeMillis() + away
  const logger = Logger.make(({ logLevel, message }) => void said.push(`${logLevel.label} ${String(message)}`))
  /** An instance whose own clock is `apart` from that of the table. */
  const instance = (apart = 0) =>
    Ages.make(Effect.sync(() => ({ ...kept, now: now() })), (looks) => Effect.sync(() => (kept = looks))).pipe(
      Effect.map((ages) => ({ ...ages, until: Ages.until(ages) })),
      Effect.withClock(Object.assign(Object.create(clock), {
        unsafeCurrentTimeMillis: () => now() + apart,
        unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos()
      })),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger))
    )
  return { instance, said, set: (millis: number) => Effect.sync(() => void (away += millis)) }
})

describe("the ages of a table", () => {
  it.effect("count by the monotonic clock in between, and not for a day after the clock was set, there or back", () =>
    Effect.gen(function*() {
      const { instance, said, set } = yield* table
      const ages = instance()
      yield* ages
      // between two looks, a leap is not even seen
      yield* TestClock.adjust("50 seconds")
      yield* set(3650 * DAY)
      assert.deepInclude(yield* ages, { now: 50_000, doubt: undefined })
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* ages).until, 0)
      yield* set(-3650 * DAY)
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* ages).until, 0)
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* ages).until, 0)
      yield* TestClock.adjust("2 hours")
      assert.isAbove((yield* ages).until, 2 * DAY)
      assert.deepStrictEqual(said.map((line) => line.split(" ")[0]), ["WARN"])
    }))

  it.effect("are in doubt for every instance that begins meanwhile, and for one that is away from the table's clock alone", () =>
    Effect.gen(function*() {
      const { instance, set } = yield* table
      yield* instance()
      yield* TestClock.adjust("1 hour")
      assert.isUndefined((yield* instance()).doubt)
      assert.include((yield* instance(3 * DAY)).doubt, "it is 259200 seconds away from that of the database")
      assert.isUndefined((yield* instance()).doubt)
      yield* set(400 * DAY)
      assert.include((yield* instance()).doubt, "1971-02-05")
      yield* TestClock.adjust("1 hour")
      assert.include((yield* instance()).doubt, "1971-02-05")
    }))
})
