import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, TestClock, TestServices } from "effect"
import { clockFailing } from "../../src/node/clock.js"
import { database } from "../support/sqlite.js"

describe("the clock of a process", () => {
  it.effect("is wrong where it is minutes away from that of the database, in either direction", () =>
    Effect.gen(function*() {
      const now = yield* TestServices.provideLive(Clock.currentTimeMillis)
      const at = (seconds: number) => Effect.zipRight(TestClock.setTime(now + seconds * 1000), clockFailing)
      for (const seconds of [-200, 0, 200]) assert.deepStrictEqual(yield* at(seconds), [])
      for (const seconds of [-400, 400]) {
        assert.match((yield* at(seconds)).join(), /^clock: it is (?:39\d|40\d) seconds away from that of the database$/)
      }
    }).pipe(Effect.provide(database)))
})
