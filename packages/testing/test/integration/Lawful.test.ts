import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { differences, findings } from "../lawful/Journey.js"
import * as ServiceVariation from "../variation/ServiceVariation.js"

const seeds = Array.from({ length: 300 }, (_, index) => index + 1)

describe("a service that keeps the interface", () => {
  it.effect(
    "lets a client upload, resume, download, inspect and list, whatever else it does",
    () =>
      Effect.forEach(seeds, (seed) => {
        const variation = ServiceVariation.fromSeed(seed)
        return Effect.map(findings(variation), (found) =>
          assert.deepStrictEqual(
            found,
            [],
            `npm run lawful -- --seed ${seed} --services 1\n${JSON.stringify(differences(variation), null, 2)}`
          ))
      }),
    { timeout: 600_000 }
  )
})
