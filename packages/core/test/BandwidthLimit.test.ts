import { assert, describe, it } from "@effect/vitest"
import { BandwidthLimit, Uploads, UploadSources } from "@stevedore/core"
import type { SourceBody } from "@stevedore/core/UploadSource"
import { Sandbox } from "@stevedore/testing"
import { Chunk, Effect, FastCheck as fc, Fiber, Layer, Option, Stream, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { piecesOf, within } from "./fixtures/bandwidthLimit.js"
import { bytes, tiny } from "./fixtures/uploads.js"
import { inVirtualTime } from "./fixtures/virtualTime.js"

describe("BandwidthLimit", () => {
  it.effect.prop(
    "changes no byte",
    { chunks: fc.array(fc.uint8Array({ maxLength: 400 }), { maxLength: 10 }), rate: fc.integer({ min: 1, max: 5000 }) },
    ({ chunks, rate }) =>
      inVirtualTime(
        Effect.gen(function*() {
          const limit = yield* BandwidthLimit.make({ rate })
          const whole = Buffer.concat(chunks)
          async function* reusing(memory: Uint8Array) {
            for (const chunk of chunks) {
              memory.set(chunk)
              yield memory.subarray(0, chunk.byteLength)
              await Promise.resolve()
            }
          }
          const bodies: ReadonlyArray<SourceBody> = [
            { _tag: "BytesBody", bytes: whole },
            { _tag: "StreamBody", stream: Stream.fromIterable(chunks) },
            { _tag: "NativeBody", content: reusing(new Uint8Array(400)) },
            // of a Buffer, slice is a view
            { _tag: "NativeBody", content: reusing(Buffer.alloc(400)) }
          ]
          for (const body of bodies) {
            const pieces = Chunk.toReadonlyArray(yield* Stream.runCollect(piecesOf(yield* within(limit, body))))
            assert.isTrue(Buffer.concat(pieces).equals(whole))
          }
          let next = 0
          const pull = limit.pull(Effect.suspend(() => {
            const chunk = chunks[next++]
            return chunk === undefined ? Effect.fail(Option.none<never>()) : Effect.succeed(chunk)
          }))
          const pulled = yield* Stream.runCollect(Stream.repeatEffectOption(pull))
          assert.isTrue(Buffer.concat(Chunk.toReadonlyArray(pulled)).equals(whole))
        }).pipe(Effect.scoped)
      ).pipe(Effect.asVoid),
    { fastCheck: { numRuns: runs(20) } }
  )

  it.effect("takes a rate that is no rate for one byte per second or for none", () =>
    Effect.gen(function*() {
      const rates = [0, -5, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 7]
      const limits = yield* Effect.forEach(rates, (rate) =>
        Effect.flatMap(BandwidthLimit.make({ rate }), ({ current }) => current))
      assert.deepStrictEqual(
        limits.map(({ rate }) =>
          rate
        ),
        [1, 1, 1, Infinity, Infinity, 7]
      )
      const { current } = yield* BandwidthLimit.make({ rate: 7, most: 3 })
      assert.deepStrictEqual(yield* current, { rate: 7, most: 7 })
    }))

  it.effect("cannot be changed where there is none", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(BandwidthLimit.set({ rate: 5 }))
      assert.include(String(exit), "provide BandwidthLimit.layer")
    }))

  it.effect("is in force where a layer was built with it", () =>
    Effect.gen(function*() {
      const built = Layer.provide(
        Layer.effect(BandwidthLimit.BandwidthLimit, BandwidthLimit.BandwidthLimit),
        BandwidthLimit.layer({ rate: 7 })
      )
      const { current } = yield* Effect.provide(BandwidthLimit.BandwidthLimit, built)
      assert.strictEqual((yield* current).rate, 7)
    }))
})

describe("a source that a browser sends by itself", () => {
  it.effect("waits as a whole before it is sent", () =>
    Effect.gen(function*() {
      const limit = yield* BandwidthLimit.make({ rate: 10 })
      const waits: Array<boolean> = []
      const body: SourceBody = { _tag: "BlobBody", blob: new Blob([new Uint8Array(50)]), observed: Effect.void }
      const paced = Effect.scoped(within(limit, body, (wait) => waits.push(wait)))
      assert.strictEqual(yield* paced, body)
      const second = yield* Effect.fork(paced)
      yield* TestClock.adjust("4800 millis")
      assert.deepStrictEqual(waits, [true, false, true])
      yield* TestClock.adjust("250 millis")
      assert.strictEqual(yield* Fiber.join(second), body)
      assert.deepStrictEqual(waits, [true, false, true, false])
    }))
})

describe("UploadSources", () => {
  it.effect("of every kind are sent within the limit as they are", () =>
    Effect.gen(function*() {
      const content = bytes(500)
      const stream = Stream.fromIterable([content.subarray(0, 123), content.subarray(123)])
      const { result } = yield* inVirtualTime(
        Effect.forEach([
          UploadSources.fromBytes("bytes.bin", content),
          UploadSources.fromStream("stream.bin", stream, { size: 500 })
        ], (source) => Uploads.upload(source)).pipe(Effect.provide(BandwidthLimit.layer({ rate: 100 })))
      )
      for (const { id } of result) {
        assert.deepStrictEqual(Buffer.from(yield* Sandbox.stored(id)), Buffer.from(content))
      }
    }).pipe(Effect.provide(tiny())))
})
