import { assert, describe, it } from "@effect/vitest"
import { mustBeMet } from "../simulation/Coverage.js"
import { assertLawful } from "../simulation/lawful.js"
import { violations } from "../simulation/Laws.js"
import { run } from "../simulation/Simulation.js"

const minutes = 60_000

describe("Simulation", () => {
  // each broke a law once
  it.each([
    [9_024_236, "Complete is lost, and the client's own rate limit forbids to send it again"],
    [9_134_675, "an upload is interrupted as storage refuses a part for good"],
    [9_022_400, "the computer sleeps while an interrupted upload writes into its ledger"],
    [55_733, "the computer falls asleep in the moment of an interruption"]
  ])("holds the laws in history %d: %s", (seed) => {
    assert.deepStrictEqual(violations(run(seed)), [])
  })

  it("holds the twelve laws in every history, and meets every fault and every outcome", async () => {
    const report = await assertLawful(5000)
    assert.deepStrictEqual(mustBeMet.filter((name) => report.met[name] === undefined), [])
  }, 10 * minutes)
})
