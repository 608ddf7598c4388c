import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import { FaultScript, Sandbox, VirtualTime } from "@stevedore/testing"
import { Effect, Fiber } from "effect"
import { proven, runner } from "../support/histories.js"
import { database, Life, sources } from "../support/lives.js"
import { service } from "../support/service.js"

/** What a file of a chunk waits for, for a minute. */
const waits = [
  ["the repeat of an initiate", "single", FaultScript.on("initiate").retryAfter(60)],
  ["the repeat of a PUT", "single", FaultScript.on("putSingle").retryAfter(60)],
  ["the repeat of a part", "parts", FaultScript.on("putPart").part(2).retryAfter(60)],
  ["the repeat of a Complete", "parts", FaultScript.on("completeLarge").retryAfter(60)]
] as const

describe("a runner that stands still while a file of its waits for", () => {
  it.live.each(waits)(
    "%s sends nothing of it once another has taken its chunk over",
    ([, way, faults]) =>
      Effect.gen(function*() {
        const client = yield* database
        const job = { name: "taken over", files: sources(1), chunkSize: 1 }
        const working = (life: Life) =>
          Effect.gen(function*() {
            const { id } = yield* Bulk.submit(job.name, BulkSources.fromIterable(job.files), job)
            return yield* Bulk.runChunk(id, 0)
          }).pipe(Effect.provide(runner(client, { way, life })))
        yield* Effect.gen(function*() {
          const first = new Life()
          const fiber = yield* Effect.fork(working(first))
          yield* Effect.sleep("10 seconds")
          first.state = "frozen"
          assert.strictEqual(yield* working(new Life()), "done")
          yield* Effect.sleep("1 minute")
          first.wake()
          const { requests } = yield* Sandbox.report
          assert.strictEqual(yield* Fiber.join(fiber), "lost")
          assert.deepStrictEqual((yield* Sandbox.report).requests.slice(requests.length), [])
          yield* proven(client, job, false)
        }).pipe(VirtualTime.run, Effect.provide(service({ faults })))
      }).pipe(Effect.scoped)
  )
})
