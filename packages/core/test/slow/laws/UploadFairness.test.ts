import { assert, describe, it } from "@effect/vitest"
import { TransferGate } from "@stevedore/core"
import { Effect } from "effect"
import { gateOfAPage, sharedLine } from "../../fixtures/sharedLine.js"
import { firsts, gates, line, MB, secondsNow, started, startOf } from "../../fixtures/uploadFairness.js"
import { inVirtualTime } from "../../fixtures/virtualTime.js"

describe.each(gates)("several files on a slow line, through a gate $called", ({ gate, within }) => {
  it.effect("one that is added later does not wait until the large one is done", () =>
    inVirtualTime(
      Effect.gen(function*() {
        yield* started(250)
        yield* Effect.sleep("20 seconds")
        const small = yield* started(5.2)
        const [sent = Infinity] = yield* firsts(small)
        assert.isAtMost(sent, 25)
        yield* small.await
        assert.isAtMost(yield* secondsNow, 20 + within)
      }).pipe(Effect.scoped, Effect.provide(sharedLine(line, gate))),
      startOf
    ))
})

describe("a page on a slow line", () => {
  it.effect("soon uses every connection of a fast line", () =>
    inVirtualTime(
      Effect.gen(function*() {
        const upload = yield* started(250)
        yield* Effect.sleep("3 seconds")
        assert.strictEqual((yield* (yield* TransferGate.TransferGate).state).inFlight, 6)
        yield* upload.await
      }).pipe(Effect.scoped, Effect.provide(sharedLine(100 * MB, gateOfAPage))),
      startOf
    ))
})
