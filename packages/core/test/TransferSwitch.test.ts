import { assert, describe, it } from "@effect/vitest"
import { TransferSwitch } from "@stevedore/core"
import { Effect, Fiber, Option, Schema } from "effect"

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

  it.effect.prop(
    "however often it is turned, it says each time whether that changed anything, and reports a change",
    { turns: Schema.Array(Schema.Boolean) },
    ({ turns }) =>
      Effect.gen(function*() {
        const told: Array<boolean> = []
        const transferSwitch = TransferSwitch.make((isOff) => void told.push(isOff))
        let isOff = false
        for (const off of turns) {
          assert.strictEqual(yield* off ? transferSwitch.turnOff : transferSwitch.turnOn, off !== isOff)
          isOff = off
          assert.strictEqual(transferSwitch.isOff(), isOff)
        }
        assert.deepStrictEqual(told, told.map((_, index) => index % 2 === 0))
        assert.strictEqual(told.length % 2 === 1, isOff)
      })
  )
})
