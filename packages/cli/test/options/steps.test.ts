import { assert, describe, it } from "@effect/vitest"
import { Uploads, UploadSources } from "@stevedore/core"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { Effect, Fiber, HashMap, Logger, LogLevel } from "effect"
import { tellSteps } from "../../src/options/steps.js"

const source = UploadSources.fromBytes("interview.bin", new Uint8Array(40))

/** What is logged of each step, by name and attributes. */
const stepsOf = <A, E, R>(effect: Effect.Effect<A, E, R>, level: LogLevel.LogLevel = LogLevel.Debug) =>
  Effect.gen(function*() {
    const told: Array<Readonly<Record<string, unknown>>> = []
    const logger = Logger.make(({ annotations, message }) => {
      if (HashMap.has(annotations, "outcome")) {
        told.push({ step: String(message), ...Object.fromEntries(HashMap.toEntries(annotations)) })
      }
    })
    yield* effect.pipe(
      tellSteps,
      Logger.withMinimumLogLevel(level),
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Effect.ignore
    )
    return told
  })

const upload = Uploads.upload(source, { strategy: "multipart", parts: 4, concurrency: 1 }).pipe(
  Effect.provide(SandboxLayer.memory({
    minimumPartSize: 10,
    faults: FaultScript.on("putPart").part(2).answer(503, "SlowDown")
  }))
)

describe("steps", () => {
  it.live("are logged when they end, with their outcome and duration", () =>
    Effect.gen(function*() {
      const told = yield* stepsOf(upload)
      assert.deepStrictEqual(
        told.map(({ attempt, outcome, part, step }) => [step, part, attempt, outcome]),
        [
          ["ServiceApi.initiateLargeUpload", undefined, undefined, "done"],
          ["ObjectStorage.putPart", 1, 1, "done"],
          ["ObjectStorage.putPart", 2, 1, "StorageUnavailable"],
          ["ObjectStorage.putPart", 2, 2, "done"],
          ["ObjectStorage.putPart", 3, 1, "done"],
          ["ObjectStorage.putPart", 4, 1, "done"],
          ["ServiceApi.completeLargeUpload", undefined, undefined, "done"],
          ["Uploads.upload", undefined, undefined, "done"]
        ]
      )
      for (const { took } of told) assert.match(String(took), /^\d+m?s/)
    }))

  it.live("show no signature, not even from an attribute of another library's span", () =>
    Effect.gen(function*() {
      const foreign = Effect.withSpan(Effect.void, "http.client PUT", {
        attributes: { "url.full": "https://storage.test/key?X-Amz-Signature=abc", "url.query": "X-Amz-Signature=abc" }
      })
      const shown = JSON.stringify(yield* stepsOf(Effect.zipRight(foreign, upload)))
      assert.include(shown, "http.client PUT")
      assert.notMatch(shown, /X-Amz|Signature|api\./)
    }))

  it.effect("are also logged when they are interrupted or die", () =>
    Effect.gen(function*() {
      const told = yield* stepsOf(Effect.gen(function*() {
        const fiber = yield* Effect.fork(Effect.withSpan(Effect.never, "waits"))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(fiber)
        yield* Effect.withSpan(Effect.die("defect"), "dies").pipe(Effect.exit)
      }))
      assert.deepStrictEqual(told.map(({ outcome, step }) => [step, outcome]), [
        ["waits", "interrupted"],
        ["dies", "defect"]
      ])
    }))

  it.live("are not logged at level info", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* stepsOf(upload, LogLevel.Info), [])
    }))
})
