import { assert, describe, it } from "@effect/vitest"
import { violations } from "../simulation/Laws.js"
import { run } from "../simulation/Simulation.js"

// `npm run simulate` runs any others
describe("Simulation", () => {
  // each broke a law once
  it.each([
    [9_024_236, "Complete is lost, and the client's own rate limit forbids to send it again"],
    [9_134_675, "an upload is interrupted as storage refuses a part for good"],
    [9_022_400, "the computer sleeps while an interrupted upload writes into its ledger"],
    [55_733, "the computer falls asleep in the moment of an interruption"],
    [7_012_997, "an upload goes on with the session of one that a firewall ended, in the same process"],
    [8_000_092, "a frozen life thaws after another has taken its upload over"],
    [8_000_321, "a frozen life has every part as another takes its upload over"],
    [9_175_776, "a frozen life thaws between two attempts of a part that another has sent"]
  ])("holds the laws in history %d: %s", (seed) => {
    assert.deepStrictEqual(violations(run(seed)), [])
  })
})
