import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Lists, RateLimit, RetryPolicy, ServiceApi, ServiceError, ServiceProfile, Timeouts } from "@stevedore/core"
import { Clock, Deferred, Duration, Effect, Fiber, Layer, Logger, LogLevel, Option, Stream } from "effect"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { type FakeService, fakeService, type Handler, json, refusal } from "../fixtures/fakeService.js"
import { isRefused, limited, theFile } from "../fixtures/internal/serviceCall.js"
import { strictLimit } from "../fixtures/strictLimit.js"
import { inVirtualTime } from "../fixtures/virtualTime.js"

const file = { id: "f1", name: "a.txt", status: "completed", created_at: "2030-01-01T00:00:00Z" }

const found = () => json({ data: file })

const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.asVoid(inVirtualTime(effect))

const elapsed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([took, result]) => ({ result, millis: Duration.toMillis(took) }))

const withService = <A, E>(
  handler: Handler,
  use: (service: FakeService) => Effect.Effect<A, E, ServiceApi.ServiceApi>,
  options?: Parameters<typeof fakeService>[1]
) => {
  const service = fakeService(handler, options)
  return inTime(Effect.provide(use(service), service.layer))
}

/** A computer that sleeps meanwhile: what is due fires when it wakes. */
const sleeping = (asleep: { readonly from: Duration.DurationInput; readonly to: Duration.DurationInput }) =>
  Effect.map(Effect.clock, (clock) => {
    const now = () => clock.unsafeCurrentTimeMillis()
    const from = now() + Duration.toMillis(asleep.from)
    const to = now() + Duration.toMillis(asleep.to)
    return Effect.withClock<Clock.Clock>({
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: now,
      unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanos: clock.currentTimeNanos,
      sleep: (wait) =>
        Effect.suspend(() => {
          const dueAt = now() + Duration.toMillis(wait)
          return clock.sleep(Duration.millis((dueAt > from && dueAt < to ? to : dueAt) - now()))
        })
    })
  })

const logging = (logged: Array<string>) =>
  Effect.provide(Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => logged.push(`${logLevel._tag}: ${[message].flat()[0]}`))
  ))

const silent: Handler = () => Effect.never

const waiting = (seconds: number, counts = { passed: 0 }): RateLimit.Service => ({
  pass: (call, { operation }) =>
    Effect.suspend(() => {
      counts.passed += 1
      return Effect.zipRight(Effect.logDebug(operation), Effect.delay(call(() => Effect.void), seconds * 1000))
    }),
  status: Effect.succeedSome({ limit: 7, remaining: 3, resetsAt: undefined })
})

const short = Timeouts.with({ call: "40 seconds", total: "100 seconds" })

describe("a call of the service", () => {
  describe("a 429", () => {
    it.effect("for ever is asked exactly as often as the policy says", () =>
      withService(() => limited("1"), ({ received }) =>
        Effect.gen(function*() {
          const { millis, result } = yield* elapsed(Effect.flip(theFile))
          assert.deepInclude(result, { _tag: "RateLimited", attempts: 5 })
          assert.strictEqual(received.length, 5)
          assert.strictEqual(millis, 4000)
        })))

    it.effect("holds all other calls too, for exactly that time", () =>
      withService((_, index) => index === 0 ? limited("2") : found(), ({ received }) =>
        Effect.gen(function*() {
          const first = yield* Effect.fork(theFile)
          yield* Effect.sleep("1 second")
          const { millis } = yield* elapsed(Effect.replicateEffect(theFile, 20, { concurrency: "unbounded" }))
          assert.strictEqual(millis, 1000)
          yield* Fiber.join(first)
          assert.strictEqual(received.length, 22)
        })))

    it.effect("with a date is waited for until that date", () =>
      withService(
        (_, index) => index === 0 ? limited(new Date(Date.UTC(2030, 0, 1, 0, 0, 7)).toUTCString()) : found(),
        () => Effect.map(elapsed(theFile), ({ millis }) => assert.strictEqual(millis, 7000))
      ))

    it.effect("above the cap fails at once with the wait", () =>
      withService(() => limited("100000"), ({ received }) =>
        Effect.gen(function*() {
          const { millis, result } = yield* elapsed(Effect.flip(theFile))
          assert.strictEqual(millis, 0)
          assert.strictEqual(received.length, 1)
          assert.deepInclude(result, { _tag: "RateLimited", retryAfter: Duration.seconds(100_000) })
        })))

    it.effect("that cannot be read is no hint and no crash", () =>
      withService((_, index) => index === 0 ? limited("next week") : found(), ({ received }) =>
        Effect.gen(function*() {
          yield* theFile
          assert.strictEqual(received.length, 2)
        })))

    it.effect("is not asked again where the policy has no repeats", () =>
      withService(() => limited("1"), ({ received }) =>
        Effect.gen(function*() {
          yield* Effect.flip(Effect.provide(theFile, RetryPolicy.none))
          assert.strictEqual(received.length, 1)
        })))
  })

  it.effect.each([["refused", "ECONNREFUSED", "no"], ["reset", "ECONNRESET", "unknown"]] as const)(
    "a connection that is %s fails with the system's name for it",
    ([problem, code, arrived]) =>
      withService(() => Effect.fail(problem), () =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(theFile)
          assert.deepInclude(error, { _tag: "ConnectionFailed", code, arrived, origin: "https://service.test" })
        }))
  )

  it.effect("205 calls from 50 fibers at 200 a minute meet no 429, downloads among them", () => {
    const server = strictLimit({ limit: 200 })
    const handler: Handler = ({ path }) =>
      Effect.zipRight(
        Effect.sleep("50 millis"),
        Effect.map(server.ours, (answer) =>
          path.endsWith("/download") ? new Response("bytes", answer) : json({ data: file }, answer))
      )
    return withService(handler, () =>
      Effect.gen(function*() {
        const api = yield* ServiceApi.ServiceApi
        const download = Effect.scoped(Effect.gen(function*() {
          const answer = yield* api.download("f1")
          if (answer._tag === "Content") yield* Stream.runDrain(answer.bytes)
        }))
        yield* Effect.forEach(
          Array(205),
          (_, index) => index % 10 === 0 ? download : Effect.asVoid(theFile),
          { concurrency: 50, discard: true }
        )
        assert.deepStrictEqual(server.state, { refused: 0, admitted: 205 })
      }), { profile: ServiceProfile.extend(ServiceProfile.dovetail, { download: "content" }) })
  })

  it.effect("the limit that is left can be asked for", () => {
    const server = strictLimit({ limit: 200 })
    return withService(
      () => Effect.map(server.ours, (answer) => json({ data: file }, answer)),
      () =>
        Effect.gen(function*() {
          const api = yield* ServiceApi.ServiceApi
          assert.deepStrictEqual(yield* api.rateLimit, Option.none())
          yield* theFile
          const now = yield* Clock.currentTimeMillis
          assert.deepStrictEqual(
            yield* api.rateLimit,
            Option.some({ limit: 200, remaining: 199, resetsAt: now + 60_000 })
          )
        })
    )
  })

  describe("repeats", () => {
    it.effect("end when the client's budget is used up, and not before", () =>
      withService(() => refusal(503, "InternalError"), ({ received }) =>
        Effect.gen(function*() {
          yield* Effect.replicateEffect(Effect.flip(theFile), 100, { concurrency: 10 })
          assert.strictEqual(received.length, 200)
        })))

    it.effect("of an initiate: only when it is known not to have been carried out", () => {
      const initiate = Effect.flatMap(
        ServiceApi.ServiceApi,
        (api) => api.initiateUpload({ name: "a", mediaType: "text/plain", size: 1 })
      )
      const attemptsAfter = (handler: Handler) => {
        const service = fakeService(handler)
        return Effect.as(
          Effect.provide(Effect.flip(initiate), service.layer),
          service.received
        ).pipe(Effect.map(({ length }) => length))
      }
      return inTime(Effect.gen(function*() {
        assert.strictEqual(yield* attemptsAfter(() => Effect.fail("refused")), 5)
        assert.strictEqual(yield* attemptsAfter(() => limited("1")), 5)
        assert.strictEqual(yield* attemptsAfter(() => Effect.fail("reset")), 1)
        assert.strictEqual(yield* attemptsAfter(() => refusal(503, "InternalError")), 1)
        assert.strictEqual(yield* attemptsAfter(() => Effect.never), 1)
      }))
    })
  })

  describe("time-outs", () => {
    it.effect("by attempt cover the body too", () =>
      withService(
        () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode("{")) })),
        ({ received }) =>
          Effect.gen(function*() {
            const { millis, result } = yield* elapsed(Effect.flip(Effect.provide(theFile, RetryPolicy.none)))
            assert.deepInclude(result, { _tag: "TimedOut", phase: "call", attempts: 1 })
            assert.strictEqual(millis, 60_000)
            assert.strictEqual(received.length, 1)
          })
      ))

    it.effect("hold also where nothing may be interrupted, as in acquireRelease", () =>
      withService(silent, () =>
        Effect.gen(function*() {
          const once = Effect.provide(theFile, RetryPolicy.none)
          const { millis, result } = yield* elapsed(Effect.uninterruptible(Effect.flip(once)))
          assert.deepInclude(result, { _tag: "TimedOut", phase: "call", attempts: 1 })
          assert.strictEqual(millis, 60_000)
        })))

    it.effect("and what may not be interrupted is not, for all that", () =>
      withService(() => Effect.delay(Effect.sync(found), "10 seconds"), () =>
        Effect.gen(function*() {
          const record = yield* Deferred.make<string>()
          const asking = Effect.flatMap(theFile, ({ id }) => Deferred.succeed(record, id))
          const fiber = yield* Effect.fork(Effect.uninterruptible(asking))
          yield* Effect.sleep("5 seconds")
          yield* Fiber.interrupt(fiber)
          assert.isTrue(yield* Deferred.isDone(record))
        })))

    it.effect("by call cover all attempts and waits", () =>
      withService(silent, () =>
        Effect.gen(function*() {
          const { millis, result } = yield* elapsed(
            Effect.flip(theFile).pipe(Timeouts.with({ call: "40 seconds", total: "100 seconds" }))
          )
          assert.deepInclude(result, { _tag: "TimedOut", phase: "total", after: Duration.seconds(100), attempts: 3 })
          assert.strictEqual(millis, 100_000)
        })))

    it.effect("by call leave out time in which the computer slept, also if its monotonic clock went on", () =>
      withService((_, index) => index === 1 ? found() : Effect.never, ({ received }) =>
        Effect.gen(function*() {
          const asleep = yield* sleeping({ from: "10 seconds", to: "1 hour" })
          const { millis } = yield* elapsed(asleep(theFile))
          assert.strictEqual(received.length, 2)
          assert.closeTo(millis, 3_600_000, 1000)
          const stillLimited = theFile.pipe(Timeouts.with({ call: "40 seconds", total: "100 seconds" }))
          assert.deepInclude(yield* Effect.flip(stillLimited), { _tag: "TimedOut", phase: "total", attempts: 3 })
        })))

    it.effect("do not count the wait for the rate limit as an attempt", () =>
      withService((_, index) => index === 0 ? limited("50") : found(), ({ received }) =>
        Effect.gen(function*() {
          yield* theFile.pipe(Timeouts.with({ call: "1 second" }))
          assert.strictEqual(received.length, 2)
        })))
  })

  describe("a gate that is given", () => {
    it.effect("to the client is the one that all calls pass, and its status the client's", () => {
      const counts = { passed: 0 }
      const service = fakeService((_, index) => index === 0 ? refusal(503, "busy") : found())
      const { layer } = service
      return inTime(
        Effect.gen(function*() {
          const api = yield* ServiceApi.ServiceApi
          yield* theFile
          yield* Effect.ignore(api.tokenInfo)
          assert.strictEqual(counts.passed, service.received.length)
          assert.deepInclude(Option.getOrThrow(yield* api.rateLimit), { limit: 7, remaining: 3 })
        }).pipe(Effect.provide(layer.pipe(Layer.provide(RateLimit.layer(waiting(0, counts))))))
      )
    })

    it.effect("is shared by all clients it is given to", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make({ requests: 1, windowSeconds: 30 })
        const calls = [1, 2, 3].map(() => Effect.provide(theFile, Layer.fresh(fakeService(found).layer)))
        const { millis } = yield* elapsed(
          Effect.provide(Effect.all(calls, { concurrency: "unbounded" }), RateLimit.layer(gate))
        )
        assert.strictEqual(millis, 60_000)
      })))

    it.effect("for a single effect counts before the client's", () => {
      const counts = { client: { passed: 0 }, call: { passed: 0 } }
      return inTime(
        Effect.zipRight(theFile, Effect.provide(theFile, RateLimit.layer(waiting(0, counts.call)))).pipe(
          Effect.tap(() =>
            Effect.sync(() => assert.deepStrictEqual(counts, { client: { passed: 1 }, call: { passed: 1 } }))
          ),
          Effect.provide(fakeService(found).layer.pipe(Layer.provide(RateLimit.layer(waiting(0, counts.client)))))
        )
      )
    })

    it.effect.each([1, 39, 41, 99, 101, 3600])(
      "may let each attempt wait %i seconds: no timeout counts that",
      (seconds) => {
        const gate = Effect.provide(RateLimit.layer(waiting(seconds)))
        const inAll = Effect.provide(RetryPolicy.layer({ attempts: 3, base: 0 }))
        return Effect.zipRight(
          withService(
            (_, index) => index === 2 ? found() : Effect.delay(Effect.sync(() => limited()), "30 seconds"),
            () =>
              Effect.gen(function*() {
                const { millis } = yield* elapsed(theFile.pipe(short, inAll, gate))
                assert.strictEqual(millis, 60_000 + 3000 * seconds)
              })
          ),
          withService(() => Effect.never, () =>
            Effect.gen(function*() {
              const { millis, result } = yield* elapsed(Effect.flip(theFile).pipe(short, inAll, gate))
              assert.deepInclude(result, { _tag: "TimedOut", phase: "total", attempts: 3 })
              assert.strictEqual(millis, 100_000 + 3000 * seconds)
            }))
        )
      }
    )

    it.effect("may refuse after a wait, and what is waited for between the attempts counts again", () => {
      let asked = 0
      const refusing: RateLimit.Service = {
        pass: () =>
          Effect.delay(
            Effect.suspend(() =>
              new ServiceError.RateLimited({
                operation: "file",
                status: 429,
                issues: [],
                attempts: ++asked,
                retryAfter: Duration.seconds(30)
              })
            ),
            "1 hour"
          ),
        status: Effect.succeedNone
      }
      return withService(found, ({ received }) =>
        Effect.gen(function*() {
          const { millis, result } = yield* elapsed(
            Effect.flip(theFile).pipe(short, Effect.provide(RateLimit.layer(refusing)))
          )
          assert.deepInclude(result, { _tag: "TimedOut", phase: "total", attempts: 4 })
          assert.strictEqual(millis, 4 * 3_600_000 + 100_000)
          assert.strictEqual(received.length, 0)
        }))
    })
  })

  it.effect("that is made again says so at debug level, with the wait", () => {
    const logged: Array<string> = []
    return withService((_, index) => index === 0 ? limited("2") : found(), () =>
      Effect.gen(function*() {
        yield* theFile
        assert.deepStrictEqual(logged, ["Debug: Attempt 1 of file failed; retrying in 2s"])
      }).pipe(logging(logged), Logger.withMinimumLogLevel(LogLevel.Debug)))
  })

  describe("deprecations", () => {
    it.effect("are logged once an endpoint, whatever the id, and can be read", () => {
      const logged: Array<string> = []
      const headers = { deprecation: "true", link: "<https://docs.test/insights>; rel=\"deprecation\"" }
      return withService(({ path }) =>
        path === "/v1/projects"
          ? json({ data: [], page: {} })
          : path === "/v1/insights"
          ? json({ data: [], page: {} }, { headers })
          : json({ data: file }, { headers: { deprecation: "@1688169599" } }), () =>
        Effect.gen(function*() {
          const api = yield* ServiceApi.ServiceApi
          yield* Effect.replicateEffect(Stream.runDrain(Lists.insights()), 3)
          yield* Stream.runDrain(Lists.projects())
          yield* api.file("1kf00nQk9yfWKfsTDni8aO")
          for (
            const id of [
              "2kf00nQk9yfWKfsTDni8aO",
              "abcdefghijklmnopqrstuv",
              "9f3c1a52-41a7-4c0e-8d27-9a4c3de2b7f1",
              "4711",
              "v2"
            ]
          ) yield* api.file(id)
          assert.deepStrictEqual(yield* api.deprecations, [
            { endpoint: "GET /v1/insights", ...headers },
            { endpoint: "GET /v1/files/{id}", deprecation: "@1688169599", link: undefined }
          ])
          assert.deepStrictEqual(logged, [
            "Warning: The service has deprecated GET /v1/insights (true): see <https://docs.test/insights>; " +
            "rel=\"deprecation\"",
            "Warning: The service has deprecated GET /v1/files/{id} (@1688169599)"
          ])
        }).pipe(logging(logged)))
    })

    it.effect("cannot control a terminal that shows the log, and are as received where they are read", () => {
      const logged: Array<string> = []
      const deprecation = "\u001b[2Jgone\u009b1m"
      return withService(() => json({ data: file }, { headers: { deprecation } }), () =>
        Effect.gen(function*() {
          yield* theFile
          assert.deepStrictEqual(logged, [
            "Warning: The service has deprecated GET /v1/files/{id} (\ufffd[2Jgone\ufffd1m)"
          ])
          const { deprecations } = yield* ServiceApi.ServiceApi
          assert.deepInclude((yield* deprecations)[0], { deprecation })
        }).pipe(logging(logged)))
    })
  })

  it.effect("the client can be transformed: its requests have the base URL and the token already", () => {
    const urls: Array<string> = []
    return withService(() => found(), ({ received }) =>
      Effect.gen(function*() {
        yield* theFile
        assert.deepStrictEqual(urls, ["https://service.test/api/v1/files/f1"])
        assert.deepInclude(received[0]?.headers, { "user-agent": "archive/1.0", authorization: "Bearer api.secret" })
      }), {
      transformClient: (client) =>
        client.pipe(
          HttpClient.tapRequest(({ url }) => Effect.sync(() => urls.push(url))),
          HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", "archive/1.0"))
        )
    })
  })

  it.effect.each(
    [
      ["a lost answer", () => Effect.fail("reset" as const), true],
      ["a gateway's 502", () => json({}, { status: 502 }), true],
      ["a page", () => new Response("<html></html>"), true],
      ["a connection that was refused", () => Effect.fail("refused" as const), undefined],
      ["a 429", () => limited("1"), undefined]
    ] as const
  )(
    "after %s, the error of the next attempt says whether the first may have been carried out",
    ([_, first, mayHave]) =>
      withService(
        (_, index) => index === 0 ? first() : refusal(401, "Unauthorized"),
        () =>
          Effect.map(Effect.flip(theFile), (error) => {
            assert(error._tag === "Unauthorized")
            assert.strictEqual(error.attempts, 2)
            assert.strictEqual(error.mayHaveArrived, mayHave)
          })
      )
  )

  it.effect("a call that the rate limit of its own client refuses says what became of its attempts before", () =>
    withService(
      (_, index) =>
        index === 0
          ? json({}, {
            status: 503,
            headers: {
              "x-ratelimit-limit": "1",
              "x-ratelimit-remaining": "0",
              "x-ratelimit-reset": String(Date.UTC(2030, 0, 1) / 1000 + 3600)
            }
          })
          : found(),
      ({ received }) =>
        Effect.map(Effect.flip(theFile), (error) => {
          assert.lengthOf(received, 1)
          assert.deepInclude(error, { _tag: "RateLimited", attempts: 1, mayHaveArrived: true })
        })
    ))
})

const coded = (body: Uint8Array, coding: string, status = 200) =>
  new Response(new Uint8Array(body), { status, headers: { "content-encoding": coding } })

const text = (value: unknown) => Buffer.from(JSON.stringify(value))

// a coding is undone by the platform, in real time
const withResponse = <A, E>(
  response: () => Response,
  use: (received: FakeService["received"]) => Effect.Effect<A, E, ServiceApi.ServiceApi>
) => {
  const { layer, received } = fakeService(response)
  return Effect.provide(use(received), layer)
}

describe("a response in a content coding that was not asked for", () => {
  it.live.each<readonly [coding: string, encode: (bytes: Buffer) => Buffer]>([
    ["gzip", (bytes) => gzipSync(bytes)],
    ["x-gzip", (bytes) => gzipSync(bytes)],
    ["GZip", (bytes) => gzipSync(bytes)],
    ["deflate", (bytes) => deflateSync(bytes)],
    ["deflate", (bytes) => deflateRawSync(bytes)],
    ["deflate, gzip", (bytes) => gzipSync(deflateSync(bytes))],
    ["identity", (bytes) => bytes],
    // as fetch does, which leaves the header as it was
    ["gzip", (bytes) => bytes],
    ["br", (bytes) => bytes]
  ])(
    "is read: %s",
    ([coding, encode]) =>
      withResponse(() => coded(encode(text({ data: file })), coding), (received) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* theFile).id, "f1")
          assert.strictEqual(received[0]?.headers["accept-encoding"], "identity")
        }))
  )

  it.live("is read in an error, and in one for a link as well", () =>
    withResponse(
      () => coded(gzipSync(text({ errors: [{ code: "Gone", title: "Gone" }] })), "gzip", 404),
      () =>
        Effect.gen(function*() {
          const download = Effect.flatMap(ServiceApi.ServiceApi, (api) => Effect.scoped(api.download("f1")))
          for (const error of [yield* Effect.flip(theFile), yield* Effect.flip(download)]) {
            assert.deepStrictEqual(error._tag === "NotFound" ? error.issues.map(({ code }) => code) : error, ["Gone"])
          }
        })
    ))

  it.live("is invalid if its end is missing, also where what came of it can be read", () => {
    // as much as makes a decoder give what it has before it comes to the end
    const spaces = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index * 7919 % 31 < 15 ? 0x20 : 0x0a))
    const whole = gzipSync(Buffer.concat([text({ data: file }), spaces]))
    return withResponse(
      () => coded(whole.subarray(0, -8), "gzip"),
      () => Effect.map(Effect.flip(theFile), ({ _tag }) => assert.strictEqual(_tag, "InvalidResponse"))
    )
  })

  it.live.each(["br", "zstd", "compress", "gzip, br"])(
    "is named if it cannot be undone: %s",
    (coding) =>
      withResponse(() => coded(brotliCompressSync(text({ data: file })), coding), (received) =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(theFile)
          assert.strictEqual(error._tag, "InvalidResponse")
          assert.include(error.message, `the content coding ${coding}`)
          assert.lengthOf(received, 1)
        }))
  )
})

const endless = () => {
  const piece = new Uint8Array(1_048_576).fill(0x20)
  return new Response(new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) }))
}

describe("a response that is too long", () => {
  it.live("is invalid at the first attempt, and the error says how long it may be", () => isRefused(endless))
})
