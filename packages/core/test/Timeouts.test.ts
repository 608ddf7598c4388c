import { assert, describe, it } from "@effect/vitest"
import { Timeouts } from "@stevedore/core"
import { Duration, Effect, Layer } from "effect"

const secondsInForce = Effect.map(
  Timeouts.Timeouts,
  ({ answer, call, connect, stall }) => [call, connect, stall, answer].map(Duration.toSeconds)
)

describe("Timeouts", () => {
  it.effect("are 60 seconds a call, 30 to connect, 60 without progress, 120 for an answer", () =>
    Effect.map(secondsInForce, (seconds) => assert.deepStrictEqual(seconds, [60, 30, 60, 120])))

  it.effect("what is not named stays as it is", () =>
    Effect.gen(function*() {
      const one = Effect.provide(secondsInForce, Timeouts.layer({ stall: "5 minutes" }))
      assert.deepStrictEqual(yield* one, [60, 30, 300, 120])
      const all = Timeouts.layer({ call: 1000, connect: "2 seconds", stall: Duration.seconds(3), answer: "4 seconds" })
      assert.deepStrictEqual(yield* Effect.provide(secondsInForce, all), [1, 2, 3, 4])
    }))

  it.effect("can be replaced for one effect, and for no other", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Timeouts.with({ call: "1 second" })(secondsInForce), [1, 30, 60, 120])
      assert.deepStrictEqual(yield* secondsInForce, [60, 30, 60, 120])
    }))

  it.effect("in force where a layer is built are handed on by it", () =>
    Effect.gen(function*() {
      const built = Layer.provide(
        Layer.effect(Timeouts.Timeouts, Timeouts.Timeouts),
        Timeouts.layer({ connect: "7 seconds" })
      )
      assert.deepStrictEqual(yield* Effect.provide(secondsInForce, built), [60, 7, 60, 120])
    }))
})
