import { assert, describe, it } from "@effect/vitest"
import { Bulk, BulkSources } from "@stevedore/bulk"
import { VirtualTime } from "@stevedore/testing"
import type { Duration } from "effect"
import { Clock, Effect, Exit, Queue } from "effect"
import { atOnce, oneAfterAnother, proven, runner } from "../support/histories.js"
import { database, Life, sources } from "../support/lives.js"
import { service } from "../support/service.js"

// For a longer run: STEVEDORE_BULK_HISTORIES=10000
const histories = Number(process.env["STEVEDORE_BULK_HISTORIES"] ?? 60)

/** The five moments of a file at which a process can be gone, or its answer lost. */
const moments = ["initiate", "PUT", "record", "Complete", "outcome"].flatMap((what) => [what, `answer to ${what}`])

describe("a process", () => {
  for (const way of ["single", "parts"] as const) {
    for (const end of ["over", "frozen"] as const) {
      it.live(
        `that is ${end} at any event between the manifest and the last outcome leaves each file to be finished once (${way})`,
        () =>
          Effect.gen(function*() {
            const client = yield* database
            const events = yield* oneAfterAnother(client, way, [], sources(1))
            assert.isAbove(events, 25)
            const ended = yield* Effect.forEach(Array.from({ length: events }, (_, event) => event), (event) => {
              const life = new Life(event, end)
              return Effect.as(oneAfterAnother(client, way, [life], sources(1)), life)
            })
            const met = new Set(ended.map(({ endedAt }) => endedAt))
            assert.deepStrictEqual(moments.filter((moment) => !met.has(moment)), [])
          }).pipe(Effect.scoped),
        180_000
      )
    }
  }
})

describe("several processes that get the same chunks", () => {
  it.live(
    "die, stand still, are slow, and have clocks that are an hour wrong: each file is there once, whatever the seed",
    () =>
      Effect.gen(function*() {
        const client = yield* database
        for (let seed = 0; seed < histories; seed++) {
          assert.isTrue(Exit.isSuccess(yield* Effect.exit(atOnce(client, seed))), `seed ${seed}`)
        }
      }).pipe(Effect.scoped),
    60_000 + 2000 * histories
  )
})

describe("a process whose machine is ten times slower", () => {
  it.live("holds up the job for one chunk at most", () =>
    Effect.gen(function*() {
      const client = yield* database
      const job = { name: "slow", files: sources(30), chunkSize: 3 }
      const chunks = yield* Queue.unbounded<number>()
      yield* Queue.offerAll(chunks, Array.from({ length: 10 }, (_, n) => n))
      const working = (slow: Duration.DurationInput) =>
        Effect.gen(function*() {
          const { id } = yield* Bulk.submit(job.name, BulkSources.fromIterable(job.files), job)
          let done = 0
          for (let next = yield* Queue.poll(chunks); next._tag === "Some"; next = yield* Queue.poll(chunks)) {
            assert.strictEqual(yield* Bulk.runChunk(id, next.value), "done")
            done += 1
          }
          return { done, at: yield* Clock.currentTimeMillis }
        }).pipe(Effect.provide(runner(client, { way: "single", life: new Life(), slow })))
      yield* Effect.gen(function*() {
        const [fast, slow] = yield* Effect.all([working("1 second"), working("10 seconds")], { concurrency: 2 })
        assert.isAbove(fast.done, slow.done)
        assert.strictEqual(fast.done + slow.done, 10)
        // its three files at once, and what their calls take
        assert.isAtMost(slow.at - fast.at, 11_000)
        yield* proven(client, job, false)
      }).pipe(VirtualTime.run, Effect.provide(service()))
    }).pipe(Effect.scoped))
})
