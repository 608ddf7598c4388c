import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"

const anyVariation = Arbitrary.schema(ServiceVariation)

const sampled = (seed: number): ServiceVariation | undefined =>
  Effect.runSync(Arbitrary.sampleEffect(anyVariation, { seed, count: 1 }))[0]
