import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy } from "@stevedore/core"
import { Duration, Effect, Fiber } from "effect"
import { gzipSync } from "node:zlib"
import { fakeService, json, refusal } from "../../fixtures/fakeService.js"
import { isRefused, limited, theFile } from "../../fixtures/internal/serviceCall.js"
import { inVirtualTime } from "../../fixtures/virtualTime.js"

describe("a call of the service", () => {
  it.live("an interrupt settles within 50 milliseconds, on the way, in a back-off and before the gate", () =>
    Effect.gen(function*() {
      for (const handler of [() => Effect.never, () => refusal(503, "InternalError"), () => limited("30")]) {
        const turn = Effect.gen(function*() {
          const service = fakeService(handler)
          const fibers = yield* Effect.replicateEffect(
            Effect.fork(Effect.provide(theFile, RetryPolicy.layer({ base: "1 minute" }))),
            10
          ).pipe(Effect.provide(service.layer))
          yield* Effect.sleep("30 millis")
          const [took] = yield* Effect.timed(Effect.forEach(fibers, Fiber.interrupt, { concurrency: "unbounded" }))
          return Duration.toMillis(took)
        })
        // the least of them: what a busy machine adds is not ours
        assert.isBelow(Math.min(...yield* Effect.replicateEffect(turn, 5)), 50)
      }
    }))
})

describe("repeats of a call of the service", () => {
  it.effect("come back with successes", () => {
    let fails = true
    const { layer, received } = fakeService(() =>
      fails ? refusal(503, "InternalError") : json({ data: { id: "f1", name: "a.txt", status: "completed" } })
    )
    return inVirtualTime(
      Effect.gen(function*() {
        yield* Effect.replicateEffect(Effect.flip(theFile), 50, { concurrency: 10 })
        fails = false
        yield* Effect.replicateEffect(theFile, 500, { concurrency: 10 })
        fails = true
        received.length = 0
        yield* Effect.replicateEffect(Effect.flip(theFile), 25)
        assert.strictEqual(received.length, 125)
      }).pipe(Effect.provide(layer))
    )
  })
})

describe("a response that is too long", () => {
  it.live("is invalid as well if it is that only once it is decoded", () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(70_000_000, " ")))
    return isRefused(() => new Response(bomb, { headers: { "content-encoding": "gzip" } }))
  })
})
