import { assert, describe, it } from "@effect/vitest"
import { mustBeMet } from "../simulation/Coverage.js"
import { assertLawful } from "../simulation/lawful.js"

const minutes = 60_000

describe("Simulation", () => {
  it("holds the twelve laws in every history, and meets every fault and every outcome", async () => {
    const report = await assertLawful(5000)
    assert.deepStrictEqual(mustBeMet.filter((name) => report.met[name] === undefined), [])
  }, 10 * minutes)
})
