import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Ages from "../../src/parts/ages.js"

const hour = 3_600_000
const day = 24 * hour

/** A program that looks after each of these times, by a clock that was moved by so much just before. */
const lived = (steps: ReadonlyArray<{ readonly after: number; readonly moved: number }>) => {
  let looks: Ages.Looks = { since: -day, at: 0 }
  let now = 0
  let steady = day
  return steps.map(({ after, moved }) => {
    now += after + moved
    looks = Ages.look(looks, now, after, after)
    steady = Math.abs(moved) > hour ? 0 : steady + after + moved
    return { looks, steady }
  })
}

const step = fc.record({
  after: fc.integer({ min: 0, max: 3 * hour }),
  moved: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    fc.integer({ min: -hour, max: hour }),
    fc.integer({ min: -4000 * day, max: 4000 * day })
  )
})

describe("ages", () => {
  it("count only while the clock has gone on as time does for a day, whatever it did before", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        for (const { looks, steady } of lived(steps)) {
          if (Ages.mayRemove(looks)) assert.isAtLeast(steady, day)
          // and they do count again: nothing is kept for ever
          if (steady >= day) assert.isTrue(Ages.mayRemove(looks))
        }
      }),
      { numRuns: 500 }
    )
  })

  it("of a program that was away for longer than usual, or begins in the past, are in doubt for a day", () => {
    fc.assert(
      fc.property(fc.integer({ min: -4000 * day, max: 4000 * day }), (away) => {
        const looks = Ages.look({ since: -2 * day, at: 0 }, away, 0, 12 * hour)
        const isUsual = away >= -hour && away <= 13 * hour
        assert.strictEqual(Ages.mayRemove(looks), isUsual)
        assert.isTrue(Ages.mayRemove(Ages.look(looks, away + day, day, day)))
      })
    )
  })
})
