import { assert, describe, it } from "@effect/vitest"
import { Downloads, Metrics, Uploads } from "@stevedore/core"
import { FaultScript } from "@stevedore/testing"
import { Chunk, Effect, Fiber, Metric, Stream, TestClock } from "effect"
import { inTime, sourceOf, tiny } from "./fixtures/uploads.js"

const count = <Type, In>(metric: Metric.Metric<Type, In, { readonly count: number | bigint }>) =>
  Effect.map(Metric.value(metric), (state) => Number(state.count))

const counts = Effect.all({
  completed: count(
    Metrics.uploads.pipe(Metric.tagged("outcome", "completed"), Metric.tagged("proof", "unproven"))
  ),
  cancelled: count(Metric.tagged(Metrics.uploads, "outcome", "cancelled")),
  refused: count(Metric.tagged(Metrics.uploads, "outcome", "StorageForbidden")),
  durations: count(Metrics.uploadDuration),
  bytes: count(Metrics.bytesConfirmed),
  parts: count(Metrics.partsConfirmed),
  putParts: count(Metric.tagged(Metrics.attempts, "operation", "putPart")),
  puts: count(Metric.tagged(Metrics.attempts, "operation", "put")),
  slowDowns: count(Metric.tagged(Metrics.retries, "category", "slowDown")),
  repeats: count(Metric.tagged(Metrics.retries, "category", "retry")),
  initiates: count(Metric.tagged(Metrics.attempts, "operation", "initiateLargeUpload")),
  gets: count(Metric.tagged(Metrics.attempts, "operation", "get")),
  received: count(Metrics.bytesReceived),
  putDurations: count(Metrics.putDuration),
  throughputs: count(Metrics.putThroughput)
})

/** By how much each count grows while this runs: metrics are of the whole process. */
const grown = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* counts
    yield* Effect.exit(effect)
    const after = yield* counts
    return Object.fromEntries(
      Object.entries(after)
        .map(([name, value]) => [name, value - before[name as keyof typeof before]] as const)
        .filter(([, by]) => by !== 0)
    )
  })

const multipart = Uploads.upload(sourceOf(95), { strategy: "multipart", parts: 10 })

describe("Metrics", () => {
  it.effect("count a completed upload once, its bytes and parts once, and each attempt", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* grown(inTime(multipart)), {
        completed: 1,
        durations: 1,
        bytes: 95,
        parts: 10,
        putParts: 13,
        initiates: 1,
        slowDowns: 2,
        repeats: 1,
        putDurations: 10,
        throughputs: 10
      })
    }).pipe(Effect.provide(tiny({
      faults: FaultScript.on("putPart").part(3).times(2).answer(503).and(FaultScript.on("putPart").part(5).reset())
    }))))

  it.effect("count what a download received, each request for it, and each retry", () =>
    Effect.gen(function*() {
      const { id } = yield* inTime(multipart)
      const download = Effect.map(Stream.runCollect(Downloads.stream(id)), Chunk.size)
      assert.deepStrictEqual(yield* grown(inTime(download)), { gets: 4, received: 95, repeats: 3 })
    }).pipe(Effect.provide(tiny({
      download: "link",
      faults: FaultScript.on("get").times(2).answer(503, "InternalError").and(FaultScript.on("get").resetAfter(40))
    }))))

  it.effect("have the tags that the caller sets, including those of a download's bytes", () =>
    Effect.gen(function*() {
      const { id } = yield* Effect.tagMetrics(inTime(multipart), "tenant", "up")
      yield* Stream.runDrain(Downloads.stream(id)).pipe(Effect.tagMetrics("tenant", "down"))
      assert.strictEqual(yield* count(Metric.tagged(Metrics.bytesConfirmed, "tenant", "up")), 95)
      assert.strictEqual(yield* count(Metric.tagged(Metrics.bytesReceived, "tenant", "down")), 95)
    }).pipe(Effect.provide(tiny())))

  it.effect("count a failed upload by its error", () =>
    Effect.gen(function*() {
      const small = Uploads.upload(sourceOf(3), { strategy: "single" })
      assert.deepStrictEqual(yield* grown(inTime(small)), { refused: 1, puts: 1 })
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("put").always().answer(403, "AccessDenied") }))))

  it.effect("count an interrupted upload as cancelled", () =>
    Effect.gen(function*() {
      const growth = yield* grown(Effect.gen(function*() {
        const fiber = yield* Effect.fork(multipart)
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(fiber)
      }))
      assert.strictEqual(growth["cancelled"], 1)
      assert.notProperty(growth, "completed")
      assert.notProperty(growth, "durations")
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("putPart").always().stall("answer") }))))
})
