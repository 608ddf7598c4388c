import { assert } from "@effect/vitest"
import { campaign } from "./Campaign.js"
import { laws } from "./Laws.js"
import type { Report } from "./Report.js"

/** Asserts that the laws hold in so many histories from the first seed on. */
export const assertLawful = async (histories: number): Promise<Report> => {
  const against = process.env.TEST_DIST === "1" ? "dist" : "src"
  const report = await campaign({ seed: 1, histories, against })
  assert.deepStrictEqual(
    report.findings.slice(0, 5).map(({ law, seed, what }) =>
      `law ${law} (${laws[law]}): ${what}; npm run simulate -- --seed ${seed} --histories 1`
    ),
    []
  )
  assert.strictEqual(report.histories, histories)
  return report
}
