import { assert, describe, it } from "@effect/vitest"
import { Array, Effect, FastCheck, Fiber, Option } from "effect"
import * as TransferSwitch from "../../src/upload/transferSwitch.js"

const settle = Effect.repeatN(Effect.yieldNow(), 20)

describe("TransferSwitch", () => {
  it.effect("whoever waits for it continues when it is turned on", () =>
    Effect.gen(function*() {
      const transferSwitch = TransferSwitch.make(() => {})
      yield* transferSwitch.on
      yield* transferSwitch.turnOff
      const on = yield* Effect.fork(transferSwitch.on)
      yield* settle
      assert.isTrue(Option.isNone(yield* Fiber.poll(on)))
      yield* transferSwitch.turnOn
      yield* Fiber.join(on)
    }))

  it.effect("calls back each time it is turned off, at once if it is off already, and no more once unsubscribed", () =>
    Effect.gen(function*() {
      const transferSwitch = TransferSwitch.make(() => {})
      let calls = 0
      const end = transferSwitch.whenOff(() => void calls++)
      yield* transferSwitch.turnOff
      yield* transferSwitch.turnOff
      assert.strictEqual(calls, 1)
      const endOther = transferSwitch.whenOff(() => void calls++)
      assert.strictEqual(calls, 2)
      end()
      endOther()
      yield* transferSwitch.turnOn
      yield* transferSwitch.turnOff
      assert.strictEqual(calls, 2)
    }))

  it.effect("is off for as long as anybody holds it off, and after that as it was turned last", () =>
    Effect.gen(function*() {
      const told: Array<boolean> = []
      const transferSwitch = TransferSwitch.make((isOff) => void told.push(isOff))
      const held = <A, E>(effect: Effect.Effect<A, E>) => Effect.scoped(Effect.zipRight(transferSwitch.holdOff, effect))
      const isOff = Effect.sync(transferSwitch.isOff)
      assert.isTrue(yield* held(isOff))
      assert.isFalse(yield* isOff)
      assert.isTrue(yield* held(Effect.zipRight(transferSwitch.turnOn, isOff)))
      assert.isFalse(yield* isOff)
      assert.isTrue(yield* held(Effect.zipRight(held(Effect.void), isOff)))
      assert.isFalse(yield* isOff)
      yield* held(transferSwitch.turnOff)
      assert.isTrue(yield* isOff)
      yield* held(Effect.void)
      assert.isTrue(yield* isOff)
      yield* transferSwitch.turnOn
      assert.isFalse(yield* isOff)
      assert.deepStrictEqual(told, [true, false, true, false, true, false, true, false])
    }))

  it.effect.prop(
    "however often it is turned, it is as it was turned last, and reports each change once",
    { turns: FastCheck.array(FastCheck.boolean()) },
    ({ turns }) =>
      Effect.gen(function*() {
        const told: Array<boolean> = []
        const transferSwitch = TransferSwitch.make((isOff) => void told.push(isOff))
        for (const off of turns) {
          yield* off ? transferSwitch.turnOff : transferSwitch.turnOn
          assert.strictEqual(transferSwitch.isOff(), off)
        }
        assert.deepStrictEqual(told, Array.dedupeAdjacent([false, ...turns]).slice(1))
      })
  )
})
