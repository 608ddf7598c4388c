import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setImmediate } from "node:timers/promises"
import { runs } from "../../../../testing/test/support/runs.js"
import type { Honesty } from "../../simulation/losingDisk.js"
import * as PowerCut from "../../simulation/powerCut.js"

const seeds = (count: number, first = 1) => Array.from({ length: count }, (_, index) => first + index)

const breaches = (count: number, honesty?: Honesty) =>
  Effect.map(
    // histories wait for nothing: in between, vitest hears from the process
    Effect.forEach(
      seeds(count),
      (seed) => Effect.zipLeft(PowerCut.history(seed, honesty), Effect.promise(() => setImmediate()))
    ),
    (all) => all.filter((breach) => breach !== undefined)
  )

describe("the ledger on a disk that loses, tears, zeroes and reorders what was not synced when the power fails", () => {
  it.live(
    "knows what it had confirmed, and nothing else, in histories of four failures each",
    () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* breaches(runs(150)), [])
      }),
    120_000
  )

  for (const honesty of ["lies about content", "lies about names"] as const) {
    it.live(`would be found out if the disk ${honesty} that it has synced`, () =>
      Effect.gen(function*() {
        assert.isAbove((yield* breaches(30, honesty)).length, 0)
      }), 120_000)
  }
})
