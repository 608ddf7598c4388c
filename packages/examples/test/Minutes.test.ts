import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy } from "@stevedore/core"
import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import { Minutes } from "../src/Minutes.js"

const minutes = Layer.provideMerge(
  Minutes.Default,
  SandboxLayer.memory({ faults: FaultScript.on("put").times(2).answer(503) })
)

const archived = Effect.flatMap(Minutes, ({ archive }) => archive("2030-01-02.txt", "We met and agreed."))

describe("Minutes", () => {
  it.effect("what is archived is in storage, by the id that comes back", () =>
    Effect.gen(function*() {
      const stored = yield* Sandbox.stored(yield* archived)
      assert.strictEqual(new TextDecoder().decode(stored), "We met and agreed.")
    }).pipe(Effect.provide(minutes)))

  it.effect("the RetryPolicy of a caller counts before the one with which the layer was built", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.provide(archived, RetryPolicy.none))
      assert.strictEqual(error._tag, "StorageUnavailable")
      const puts = (yield* Sandbox.report).requests.filter(({ operation }) => operation === "put")
      assert.lengthOf(puts, 1)
    }).pipe(Effect.provide(minutes)))
})
