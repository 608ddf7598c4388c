import { assert, describe, it } from "@effect/vitest"
import { BandwidthLimit, Downloads, UploadError, Uploads } from "@stevedore/core"
import type { SourceBody } from "@stevedore/core/UploadSource"
import { Sandbox } from "@stevedore/testing"
import { Chunk, Clock, Effect, FastCheck as fc, Fiber, Option, Schedule, Stream, TestClock } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import { piecesOf, within } from "../fixtures/bandwidthLimit.js"
import { bytes, requestsOf, sourceOf, tiny } from "../fixtures/uploads.js"
import { inVirtualTime } from "../fixtures/virtualTime.js"

const rate = fc.oneof(fc.integer({ min: 20, max: 2000 }), fc.integer({ min: 2000, max: 20_000_000 }))

/** What passed, and when, in milliseconds since the start. */
interface Passed {
  readonly at: number
  readonly bytes: number
}

const passedBy = (body: SourceBody, limit: BandwidthLimit.Service, passed: Array<Passed>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const paced = yield* within(limit, body)
    yield* Stream.runForEach(piecesOf(paced), (piece) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        passed.push({ at: now - start, bytes: piece.byteLength })
      }))
  }).pipe(Effect.scoped)

const endless = (chunk: number): SourceBody => ({
  _tag: "StreamBody",
  stream: Stream.repeatEffect(Effect.sync(() => new Uint8Array(chunk)))
})

// The bytes in each window of ten seconds that begins with a piece, up to this time
const windows = (passed: ReadonlyArray<Passed>, until: number): ReadonlyArray<number> => {
  const sums: Array<number> = []
  let end = 0
  let sum = 0
  for (const { at, bytes } of passed) {
    if (at + 10_000 > until) break
    for (let next = passed[end]; next !== undefined && next.at < at + 10_000; next = passed[++end]) sum += next.bytes
    sums.push(sum)
    sum -= bytes
  }
  return sums
}

describe("BandwidthLimit", () => {
  it.effect.prop(
    "lets through its rate over any ten seconds, within 3 %, however many ask and in whatever chunks",
    { rate, connections: fc.constantFrom(1, 32), chunk: fc.integer({ min: 1, max: 2_000_000 }) },
    ({ chunk, connections, rate }) =>
      inVirtualTime(Effect.gen(function*() {
        const limit = yield* BandwidthLimit.make({ rate })
        const passed: Array<Passed> = []
        // so that a chunk is not a matter of more steps than its bytes
        const body = endless(Math.max(chunk, Math.ceil(rate / 200)))
        yield* Effect.forEach(Array.from({ length: connections }), () => passedBy(body, limit, passed), {
          concurrency: "unbounded",
          discard: true
        }).pipe(Effect.timeoutOption("25 seconds"))
        const all = windows(passed, 25_000)
        assert.isAbove(all.length, 0)
        assert.isAtMost(all.reduce((one, other) => Math.max(one, other)), rate * 10.3)
        assert.isAtLeast(all.reduce((one, other) => Math.min(one, other)), rate * 9.7)
      })).pipe(Effect.asVoid),
    { fastCheck: { numRuns: runs(8) } }
  )

  it.effect("serves who asks first first, and gives back what an interrupted waiter had reserved", () =>
    Effect.gen(function*() {
      const limit = yield* BandwidthLimit.make({ rate: 10 })
      yield* limit.take(100)
      const order: Array<string> = []
      const take = (name: string, bytes: number) =>
        Effect.fork(Effect.zipRight(limit.take(bytes), Effect.sync(() => order.push(name))))
      const large = yield* take("large", 1000)
      yield* Effect.yieldNow()
      yield* take("second", 10)
      yield* Effect.yieldNow()
      yield* take("third", 10)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(order, [])
      yield* Fiber.interrupt(large)
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(order, ["second", "third"])
    }))

  it.effect("applies a change to what already waits", () =>
    Effect.gen(function*() {
      const limit = yield* BandwidthLimit.make({ rate: 1 })
      yield* limit.take(1000)
      const waiting = yield* Effect.fork(limit.take(1))
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Option.isNone(yield* Fiber.poll(waiting)))
      yield* limit.set({ rate: Number.POSITIVE_INFINITY })
      yield* TestClock.adjust("250 millis")
      assert.isTrue(Option.isSome(yield* Fiber.poll(waiting)))
      yield* limit.set({ rate: 10 })
      yield* limit.take(10)
      const again = yield* Effect.fork(limit.take(1))
      yield* TestClock.adjust("900 millis")
      assert.isTrue(Option.isNone(yield* Fiber.poll(again)))
      yield* TestClock.adjust("200 millis")
      assert.isTrue(Option.isSome(yield* Fiber.poll(again)))
    }))
})

const polite = (rate: number, most?: number) => BandwidthLimit.layer({ rate, most })

describe("an upload with a bandwidth limit", () => {
  it.effect("takes as long as its bytes do, over all files, and no wait for the limit is a stall or a timeout", () =>
    Effect.gen(function*() {
      const sources = [sourceOf(600, "a.bin"), sourceOf(400, "b.bin"), sourceOf(300, "c.bin")]
      const stalled: Array<string> = []
      const { millis } = yield* inVirtualTime(
        Effect.forEach(sources, (source) =>
          Effect.scoped(Effect.gen(function*() {
            const upload = yield* Uploads.start(source, { strategy: "multipart", parts: 30, concurrency: 10 })
            const look = Effect.map(upload.progress.get, ({ stalledSince }) => {
              if (Option.isSome(stalledSince)) stalled.push(source.name)
            })
            yield* Effect.forkScoped(Effect.schedule(look, Schedule.spaced("3 seconds")))
            yield* Stream.runForEach(upload.events, ({ _tag }) =>
              Effect.sync(() => {
                if (_tag === "PartFailed") stalled.push(_tag)
              }))
            return yield* upload.await
          })), { concurrency: "unbounded" }).pipe(Effect.provide(polite(2)))
      )
      assert.closeTo(millis, 650_000, 6500)
      assert.deepStrictEqual(stalled, [])
      const report = yield* Sandbox.report
      assert.lengthOf(requestsOf(report, "putPart"), 90)
    }).pipe(Effect.provide(tiny({ backOff: true }))))

  it.effect("that cannot finish in time with it fails before it sends anything, and names it", () =>
    Effect.gen(function*() {
      const { result } = yield* inVirtualTime(
        Effect.flip(Uploads.upload(sourceOf(100_000), { strategy: "multipart" })).pipe(Effect.provide(polite(5)))
      )
      assert.instanceOf(result, UploadError.DeadlineUnreachable)
      assert.include(result.message, "raise the bandwidth limit of 0.000040 Mbit/s")
      assert.lengthOf(requestsOf(yield* Sandbox.report, "putPart"), 0)
    }).pipe(Effect.provide(tiny())))

  it.effect("is not given up if a higher limit may come into force, nor by what was measured under a lower one", () =>
    Effect.gen(function*() {
      const { millis } = yield* inVirtualTime(
        Effect.gen(function*() {
          const upload = yield* Effect.fork(Uploads.upload(sourceOf(100_000), { strategy: "multipart", parts: 100 }))
          yield* Effect.sleep("5 minutes")
          yield* BandwidthLimit.set({ rate: 1000 })
          yield* Fiber.join(upload)
        }).pipe(Effect.provide(polite(5, 1000)))
      )
      assert.closeTo(millis, 300_000 + 98_500, 2000)
    }).pipe(Effect.provide(tiny())))
})

describe("a download with a bandwidth limit", () => {
  it.effect("takes as long as its bytes do, and a slow limit is not a stall", () =>
    Effect.gen(function*() {
      const { id } = yield* Uploads.upload(sourceOf(1000))
      const { millis, result } = yield* inVirtualTime(
        Effect.provide(Stream.runCollect(Downloads.stream(id)), BandwidthLimit.layer({ rate: 2 }))
      )
      assert.deepStrictEqual(Buffer.concat(Chunk.toReadonlyArray(result)), Buffer.from(bytes(1000)))
      assert.closeTo(millis, 500_000, 1000)
    }).pipe(Effect.provide(tiny())))
})
