import { assert, describe, it } from "@effect/vitest"
import { campaign } from "../simulation/Campaign.js"
import { mustBeMet } from "../simulation/Coverage.js"
import { laws } from "../simulation/Laws.js"

const histories = 3000

const minutes = 60_000

describe("Simulation", () => {
  it("holds the twelve laws in every history, and meets every fault and every outcome", async () => {
    const against = process.env.TEST_DIST === "1" ? "dist" : "src"
    const report = await campaign({ seed: 1, histories, against })
    assert.deepStrictEqual(
      report.findings.slice(0, 5).map(({ law, seed, what }) =>
        `law ${law} (${laws[law]}): ${what}; npm run simulate -- --seed ${seed} --histories 1`
      ),
      []
    )
    assert.strictEqual(report.histories, histories)
    assert.deepStrictEqual(mustBeMet.filter((name) => report.met[name] === undefined), [])
  }, 10 * minutes)
})
