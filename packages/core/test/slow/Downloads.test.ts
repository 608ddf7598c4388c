import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { unstalled } from "../../src/base/fibers.js"
import { inVirtualTime } from "../fixtures/virtualTime.js"

describe("a download that drips", () => {
  it.effect("goes on for as long as it brings more", () =>
    inVirtualTime(Effect.scoped(Effect.gen(function*() {
      const pull = Effect.zipRight(Effect.sleep(100), Effect.succeed(Uint8Array.of(1, 2)))
      const steady = yield* unstalled(pull, Duration.seconds(60), () => "stalled", ({ byteLength }) => byteLength)
      assert.deepStrictEqual(yield* Effect.repeatN(steady, 20_000), Uint8Array.of(1, 2))
    }))))
})
