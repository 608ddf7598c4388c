import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { broken } from "../../lawful/Sentences.js"
import { runs } from "../../support/runs.js"
import * as ServiceVariation from "../../variation/ServiceVariation.js"

const seedsTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe("ServiceVariation", () => {
  it("is the same for the same seed, and survives JSON", () => {
    for (const seed of seedsTo(100)) {
      const variation = ServiceVariation.fromSeed(seed)
      assert.deepStrictEqual(ServiceVariation.fromSeed(seed), variation)
      const text = JSON.stringify(Schema.encodeSync(ServiceVariation.ServiceVariation)(variation))
      const decoded = Schema.decodeSync(Schema.parseJson(ServiceVariation.ServiceVariation))(text)
      assert.deepStrictEqual(decoded, variation)
    }
  })

  it("is another service for each seed, and needs another profile than the standard one for a quarter of them", () => {
    const variations = seedsTo(1000).map(ServiceVariation.fromSeed)
    const different = new Set(variations.map((variation) => JSON.stringify({ ...variation, seed: 0 })))
    assert.strictEqual(different.size, variations.length)
    const other = variations.filter((variation) => Object.keys(ServiceVariation.profileFields(variation)).length > 0)
    assert.closeTo(other.length / variations.length, 0.25, 0.05)
    assert.deepStrictEqual(ServiceVariation.profileFields(ServiceVariation.plain), {})
  })

  it.effect(
    "keeps every sentence of the interface, whatever the seed",
    () =>
      Effect.forEach(
        [ServiceVariation.plain, ...seedsTo(runs(40)).map(ServiceVariation.fromSeed)],
        (variation) =>
          Effect.map(broken(variation), (sentence) =>
            assert.isUndefined(sentence, `seed ${variation.seed}: ${sentence}\n${JSON.stringify(variation, null, 2)}`))
      ),
    {
      timeout: 120_000
    }
  )
})
