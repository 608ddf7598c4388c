import { assert, describe, it } from "@effect/vitest"
import { campaign } from "../simulation/Campaign.js"
import type { Law } from "../simulation/Laws.js"
import { laws } from "../simulation/Laws.js"
import { mutations } from "../simulation/Mutations.js"

const mostHistories = 2000

const minutes = 60_000

const everyLaw: ReadonlyArray<Law> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]

// On the sources always: what is built has other texts
describe("The simulation finds bugs", () => {
  for (const law of everyLaw) {
    const mutation = mutations[law]
    it(`law ${law} (${laws[law]}) is seen to be broken without ${mutation.without}`, async () => {
      const { findings } = await campaign({ seed: 1, histories: mostHistories, workers: 1, mutation, until: law })
      assert.include(findings.map((finding) => finding.law), law)
    }, 5 * minutes)
  }
})
