import { assert, describe, it } from "@effect/vitest"
import {
  HttpObjectStorage,
  RetryPolicy,
  ServiceApi,
  ServiceConfig,
  TransferGate,
  Uploads,
  UploadSources
} from "@stevedore/core"
import type { SandboxOptions } from "@stevedore/testing"
import { FaultScript, Sandbox, SandboxHttp } from "@stevedore/testing"
import { Effect, Fiber, Layer, Redacted, Stream, TestClock } from "effect"

const Live = (options: SandboxOptions.Options = {}) => {
  const sandbox = Sandbox.layerMemory({ recommendedPartSize: 5_242_880, ...options })
  return Layer.mergeAll(ServiceApi.layer, HttpObjectStorage.layer, TransferGate.layer()).pipe(
    Layer.provide(ServiceConfig.layer({ baseUrl: "https://api.sandbox.test", token: Redacted.make("api.sandbox") })),
    Layer.provide(SandboxHttp.layerClient),
    Layer.provideMerge(sandbox)
  )
}

const bytes = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251)
const small = UploadSources.fromBytes("notes.txt", bytes(1000), { mediaType: "text/plain" })
const large = UploadSources.fromBytes("interview.mp4", bytes(12_000_000), { mediaType: "video/mp4" })

/** Lets waits pass: retries and time-outs run on the test's clock. */
const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* Effect.forkDaemon(Effect.forever(Effect.zipRight(TestClock.adjust("1 second"), Effect.yieldNow()))).pipe(
      Effect.flatMap((clock) => Effect.ensuring(Fiber.await(fiber), Fiber.interrupt(clock)))
    )
    return yield* Fiber.join(fiber)
  })

describe("Uploads", () => {
  it.effect("a small file goes up by one PUT, byte for byte", () =>
    Effect.gen(function*() {
      const file = yield* Uploads.upload(small)
      assert.strictEqual(file.name, "notes.txt")
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(1000))
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(Live())))

  it.effect("a large file goes up in parts, byte for byte", () =>
    Effect.gen(function*() {
      const file = yield* Uploads.upload(large, { strategy: "multipart" })
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(12_000_000))
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(Live())))

  it.effect("a stream goes up in parts, byte for byte", () =>
    Effect.gen(function*() {
      const content = bytes(12_000_000)
      const stream = Stream.range(0, 11).pipe(Stream.map((n) => content.subarray(n * 1_000_000, (n + 1) * 1_000_000)))
      const source = UploadSources.fromStreamOnce("s", stream, { size: content.length })
      const file = yield* Uploads.upload(source, { strategy: "multipart" })
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), content)
    }).pipe(Effect.provide(Live())))

  it.effect("parts that storage refuses for a while, and a lost answer to Complete, do not matter", () =>
    Effect.gen(function*() {
      const file = yield* patiently(Uploads.upload(large, { strategy: "multipart" }))
      assert.deepStrictEqual(yield* Sandbox.stored(file.id), bytes(12_000_000))
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(Live({
      faults: FaultScript.on("put").times(2).answer(503, "SlowDown").and(FaultScript.on("complete").loseAnswer())
    }))))

  it.effect("without retries the first refusal is the error", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(small).pipe(Effect.provide(RetryPolicy.none)))
      assert.strictEqual(error._tag, "StorageUnavailable")
      assert.strictEqual(error.attempts, 1)
    }).pipe(Effect.provide(Live({ faults: FaultScript.on("put").times(1).answer(503, "SlowDown") }))))
})
