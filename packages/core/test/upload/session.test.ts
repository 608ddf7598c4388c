import { assert, describe, it } from "@effect/vitest"
import {
  ConnectionError,
  ObjectStorage,
  PresignedUrl,
  ServiceApi,
  ServiceError,
  TransferGate,
  type UploadPlan,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { Clock, Duration, Effect, Layer, Logger, LogLevel, Option, Random, Schema, Stream } from "effect"
import type { CheckedOptions } from "../../src/upload/checkedOptions.js"
import { initial } from "../../src/upload/decide.js"
import { next } from "../../src/upload/run.js"
import type { Opening, State } from "../../src/upload/state.js"
import { href } from "../fixtures/presignedUrls.js"
import { running, unchecked } from "../fixtures/running.js"
import { inTime } from "../fixtures/uploads.js"

const opening: Opening = {
  ...initial,
  _tag: "Opening",
  tries: { calls: 0, requests: 0, once: 0 },
  after: undefined,
  left: undefined
}

/** Opens the first session of an upload: as far as it is open, or as it failed. */
const openSession = (upload: {
  readonly source: UploadSource
  readonly options: Pick<CheckedOptions, "plan" | "maxSessions">
}) =>
  Effect.scoped(Effect.gen(function*() {
    const one = yield* running(upload.source, { ...unchecked, ...upload.options })
    let state: State = opening
    while (state._tag === "Opening" && state.number <= upload.options.maxSessions) state = yield* next(one, state)
    return state._tag === "Failed" ? yield* state.error : state
  }))

const url = Option.getOrThrow(PresignedUrl.fromString(href()))

const size = 1_000_000_000

const once = UploadSources.fromStreamOnce("a.bin", Stream.never, { size })

const repeatable = UploadSources.fromStream("a.bin", Stream.never, { size })

const gate = (throughput: Option.Option<number>) =>
  Layer.merge(
    ObjectStorage.layerNoop({}),
    TransferGate.layerNoop({
      state: Effect.succeed({
        width: 4,
        limit: 32,
        inFlight: 0,
        waiting: 0,
        bufferedBytes: 0,
        throughput,
        pausedFor: Duration.zero
      })
    })
  )

const askedFor = (options: {
  readonly source?: typeof once | typeof repeatable
  readonly parts?: number
  readonly throughput?: number
}) =>
  Effect.gen(function*() {
    const asked: Array<Option.Option<number>> = []
    const api = ServiceApi.layerNoop({
      initiateLargeUpload: ({ parts }) => {
        asked.push(parts ?? Option.none())
        return Effect.succeed({
          _tag: "MultipartSession",
          fileId: "f",
          uploadId: "u",
          clockOffset: 0,
          openedAt: 0,
          urls: [url],
          extra: {}
        })
      }
    })
    const source = { ...(options.source ?? repeatable), held: options.source === once }
    const plan: UploadPlan.UploadPlan = { _tag: "MultipartPlan", size, parts: Option.fromNullable(options.parts) }
    yield* openSession({ source, options: { plan, maxSessions: 1 } }).pipe(
      Effect.provide(Layer.merge(api, gate(Option.fromNullable(options.throughput))))
    )
    return asked
  })

describe("openSession", () => {
  it.effect("asks for enough parts as long as no line was measured, each no longer than 28 MiB", () =>
    Effect.map(askedFor({}), (asked) => assert.deepStrictEqual(asked, [Option.some(35)])))

  it.effect("asks for parts of four seconds of the line that was measured", () =>
    Effect.map(askedFor({ throughput: 40_000_000 }), (asked) => assert.deepStrictEqual(asked, [Option.some(25)])))

  it.effect("a number that was wished for counts, whatever was measured", () =>
    Effect.map(
      askedFor({ throughput: 40_000_000, parts: 17 }),
      (asked) => assert.deepStrictEqual(asked, [Option.some(17)])
    ))

  it.effect("what is held in memory while it is sent goes up in parts as the service wants them", () =>
    Effect.map(
      askedFor({ throughput: 40_000_000, source: once }),
      (asked) => assert.deepStrictEqual(asked, [Option.none()])
    ))

  const failed = { operation: "initiateUpload", status: 503, issues: [] }
  const broken = { peer: "service", origin: "https://service.test" } as const

  const failureOf = (errorOf: (call: number) => ServiceError.ServiceError) =>
    Effect.gen(function*() {
      const times: Array<number> = []
      const api = ServiceApi.layerNoop({
        initiateUpload: () =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            times.push(now)
            return Effect.fail(errorOf(times.length))
          })
      })
      const plan: UploadPlan.UploadPlan = { _tag: "SinglePlan", size }
      const error = yield* openSession({ source: repeatable, options: { plan, maxSessions: 3 } }).pipe(
        Effect.flip,
        inTime,
        Effect.withRandom(Random.fixed([1])),
        Effect.provide(Layer.merge(api, gate(Option.none())))
      )
      return { error, times }
    })

  const timesOf = (error: ServiceError.ServiceError) => Effect.map(failureOf(() => error), ({ times }) => times)

  it.effect.each<readonly [number, string, ServiceError.ServiceError]>([
    [3, "was lost", new ConnectionError.ConnectionFailed({ ...broken, arrived: "unknown" })],
    [5, "is a 503", new ServiceError.ServiceUnavailable(failed)],
    [
      2,
      "is a page",
      new ServiceError.InvalidResponse({ ...failed, status: 200, path: "", problem: ServiceError.notJson })
    ],
    [1, "cannot be, for nothing arrived", new ConnectionError.ConnectionFailed({ ...broken, arrived: "no" })],
    [1, "is a 429", new ServiceError.RateLimited({ ...failed, status: 429, retryAfter: Duration.seconds(1) })]
  ])(
    "asks %d times when the answer %s: the call itself has repeated what was not carried out",
    ([times, _, error]) => Effect.map(timesOf(error), (asked) => assert.lengthOf(asked, times))
  )

  it.effect("counts the attempts of every call that it made, whatever the last one failed with", () =>
    Effect.gen(function*() {
      const outage = yield* failureOf(() => new ServiceError.ServiceUnavailable({ ...failed, attempts: 1 }))
      assert.strictEqual(outage.error.attempts, 5)
      const errors = [
        new ConnectionError.ConnectionFailed({ ...broken, arrived: "unknown", attempts: 3 }),
        new ServiceError.Unauthorized({ ...failed, status: 401, attempts: 1 })
      ] as const
      const refused = yield* failureOf((call) => errors[call === 1 ? 0 : 1])
      assert.deepInclude(refused.error, { _tag: "Unauthorized", attempts: 4 })
    }))

  it.effect("counts them in an error of its own: a fake service may fail with the same instance again", () =>
    Effect.gen(function*() {
      const shared = new ServiceError.ServiceUnavailable({ ...failed, requestId: "r-1", attempts: 2 })
      for (let round = 0; round < 2; round++) {
        const { error } = yield* failureOf(() => shared)
        assert.strictEqual(shared.attempts, 2)
        assert.instanceOf(error, ServiceError.ServiceUnavailable)
        assert.deepStrictEqual(
          yield* Schema.encode(ServiceError.ServiceError)(error),
          yield* Schema.encode(ServiceError.ServiceError)(
            new ServiceError.ServiceUnavailable({ ...failed, requestId: "r-1", attempts: 10 })
          )
        )
        assert.match(error.message, /after 10 attempts/)
      }
    }))

  it.effect("waits between sessions as between the attempts of a call, so that a gateway's outage of seconds passes", () =>
    Effect.map(
      timesOf(new ServiceError.ServiceUnavailable({ ...failed, status: 502 })),
      (times) => assert.deepStrictEqual(times, [0, 500, 1500, 3500, 7500])
    ))

  it.effect("waits as long as the service asks, if it asks", () =>
    Effect.map(
      timesOf(new ServiceError.ServiceUnavailable({ ...failed, retryAfter: Duration.seconds(7) })),
      (times) => assert.deepStrictEqual(times, [0, 7000, 14_000, 21_000, 28_000])
    ))

  it.effect("says at debug level each time that it tries again, with the number of the attempt and the wait", () => {
    const logged: Array<string> = []
    return timesOf(new ServiceError.ServiceUnavailable(failed)).pipe(
      Effect.provide(Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ logLevel, message }) => logged.push(`${logLevel._tag}: ${[message].flat()[0]}`))
      )),
      Logger.withMinimumLogLevel(LogLevel.Debug),
      Effect.map(() =>
        assert.deepStrictEqual(
          logged,
          ["500ms", "1s", "2s", "4s"].map((wait, index) =>
            `Debug: Attempt ${index + 1} to open a session for a.bin failed; retrying in ${wait}`
          )
        )
      )
    )
  })
})
