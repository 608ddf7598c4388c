import { assert, describe, it } from "@effect/vitest"
import { RateLimit, RetryPolicy, ServiceError } from "@stevedore/core"
import { Clock, Duration, Effect, Either, FastCheck as fc, Fiber, Logger, LogLevel, Option, Random } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { reportedLimit } from "../src/service/rateHeaders.js"
import { countOf } from "./fixtures/metricStates.js"
import { strictLimit } from "./fixtures/strictLimit.js"
import { inVirtualTime } from "./fixtures/virtualTime.js"
import { settableWallClock } from "./fixtures/wallClock.js"

const rule = { requests: 200, windowSeconds: 60 }

const asked = { operation: "listPage", attempt: 1 }

const answerOf = (headers: RateLimit.Answer["headers"] = {}, status = 200): RateLimit.Answer => ({ status, headers })

const windowOf = (remaining: number, resetsAt: number, limit = 200) => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(resetsAt)
})

/** One call that takes a while on its way, is judged by the server in the middle, and is answered. */
const callTo = (
  gate: RateLimit.Service,
  server: ReturnType<typeof strictLimit>,
  latency: Effect.Effect<Duration.DurationInput> = Effect.succeed("100 millis")
) =>
  gate.pass((answered) =>
    Effect.gen(function*() {
      yield* Effect.flatMap(latency, Effect.sleep)
      const answer = yield* server.ours
      yield* Effect.flatMap(latency, Effect.sleep)
      yield* answered(answer)
      return answer.status
    }), asked)

/** What it gives, and how long it took. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([took, result]) => ({ result, millis: Duration.toMillis(took) }))

const start = Date.UTC(2030, 0, 1)

/** A time so many seconds after the beginning of a test, as the header has it. */
const at = (seconds: number) => start / 1000 + seconds

const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.asVoid(inVirtualTime(effect, start))

const passAtOnce = (gate: RateLimit.Service, answer: RateLimit.Answer) =>
  gate.pass((answered) => answered(answer), asked)

const passAfter = (gate: RateLimit.Service, after: Duration.DurationInput, answer: RateLimit.Answer) =>
  gate.pass((answered) => Effect.delay(answered(answer), after), asked)

describe("RateLimit", () => {
  it.effect("calls go in order of arrival: one that comes at the end of a window goes behind those that wait for it", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make({ requests: 1, windowSeconds: 60 })
      const order: Array<string> = []
      const call = (name: string) =>
        gate.pass((answered) => Effect.zipRight(Effect.sync(() => order.push(name)), answered(answerOf())), asked)
      // its timer was set first, so that it fires first
      const late = yield* Effect.fork(Effect.zipRight(Effect.sleep("1 minute"), call("late")))
      yield* Effect.sleep(0)
      yield* call("first")
      const waiting = yield* Effect.fork(call("waiting"))
      yield* Fiber.joinAll([late, waiting])
      assert.deepStrictEqual(order, ["first", "waiting", "late"])
    })))

  it.effect("if the call that was to find out how much is left ends without a response, the next one asks at once", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make(rule)
      yield* Effect.fork(
        Effect.exit(gate.pass(() => Effect.zipRight(Effect.sleep("1 second"), Effect.fail("cut")), asked))
      )
      yield* Effect.sleep(0)
      assert.strictEqual((yield* timed(passAtOnce(gate, answerOf()))).millis, 1000)
    })))

  it.effect("a response tells the next call at once, while its body is still being read", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make(rule)
      const first = gate.pass(
        (answered) =>
          Effect.delay(answered(answerOf(windowOf(100, at(60)))), "1 second").pipe(
            Effect.zipRight(Effect.sleep("20 seconds"))
          ),
        asked
      )
      yield* Effect.fork(first)
      yield* Effect.sleep(0)
      assert.strictEqual((yield* timed(passAtOnce(gate, answerOf()))).millis, 1000)
    })))

  describe("against a strict server of 200 a minute", () => {
    const settings: ReadonlyArray<readonly [string, typeof rule | undefined, "seconds" | "milliseconds"]> = [
      ["the profile's rule", rule, "seconds"],
      ["no rule", undefined, "seconds"],
      ["milliseconds", rule, "milliseconds"]
    ]
    it.effect.each(settings)(
      "205 calls from 50 fibers get no 429 and wait for one window: %s",
      ([_, rule, unit]) =>
        inTime(Effect.gen(function*() {
          const server = strictLimit({ limit: 200, unit })
          const gate = yield* RateLimit.make(rule)
          const { millis } = yield* timed(
            Effect.forEach(Array(205), () => callTo(gate, server), { concurrency: 50 })
          )
          assert.deepStrictEqual(server.state, { refused: 0, admitted: 205 })
          assert.isAtLeast(millis, 60_000)
          assert.isAtMost(millis, 62_000)
        }))
    )

    it.effect("even if responses overtake each other", () =>
      inTime(Effect.gen(function*() {
        const server = strictLimit({ limit: 200 })
        const gate = yield* RateLimit.make(rule)
        const latency = Effect.map(Random.nextIntBetween(10, 2000), Duration.millis)
        yield* timed(Effect.forEach(Array(405), () => callTo(gate, server, latency), { concurrency: 50 }))
        assert.deepStrictEqual(server.state, { refused: 0, admitted: 405 })
      })).pipe(Effect.withRandom(Random.make("overtaking"))))

    it.effect("even if the server reports nothing and the profile's rule applies", () =>
      inTime(Effect.gen(function*() {
        const server = strictLimit({ limit: 200, silent: true })
        const gate = yield* RateLimit.make(rule)
        yield* timed(Effect.forEach(Array(405), () => callTo(gate, server), { concurrency: 50 }))
        assert.deepStrictEqual(server.state, { refused: 0, admitted: 405 })
      })))

    const others: ReadonlyArray<readonly [string, number, Duration.DurationInput]> = [
      ["a few", 1, "5 seconds"],
      ["steadily", 1, "500 millis"],
      ["in a hurry", 1, "50 millis"],
      ["in bursts", 10, "5 seconds"],
      ["far more than fit in", 1, "20 millis"]
    ]
    it.effect.each(others)(
      "even if others share the window: %s",
      ([_, size, every]) =>
        inTime(Effect.gen(function*() {
          const server = strictLimit({ limit: 200 })
          const gate = yield* RateLimit.make(rule)
          const other = yield* Effect.fork(Effect.forever(
            Effect.zipRight(Effect.sleep(every), Effect.replicateEffect(server.theirs, size))
          ))
          yield* timed(Effect.forEach(Array(205), () => callTo(gate, server), { concurrency: 50 }))
          yield* Fiber.interrupt(other)
          assert.deepStrictEqual(server.state, { refused: 0, admitted: 205 })
        }))
    )

    it.effect("even if others have used most of the window before", () =>
      inTime(Effect.gen(function*() {
        const server = strictLimit({ limit: 200 })
        yield* Effect.replicateEffect(server.theirs, 190)
        const gate = yield* RateLimit.make(rule)
        yield* timed(Effect.forEach(Array(50), () => callTo(gate, server), { concurrency: 50 }))
        assert.deepStrictEqual(server.state, { refused: 0, admitted: 50 })
      })))
  })

  it.effect.prop(
    "whatever is refused, fails, dies or is interrupted: no call is sent before it is asked for, and none waits forever",
    {
      rule: fc.option(
        fc.record({ requests: fc.integer({ min: 1, max: 6 }), windowSeconds: fc.constantFrom(1, 5, 10) }),
        { nil: undefined }
      ),
      calls: fc.array(
        fc.record({
          after: fc.nat(1500),
          latency: fc.constantFrom(0, 1, 40, 700, 6000),
          end: fc.constantFrom("ok" as const, "refused" as const, "failed" as const, "dead" as const),
          secondsToWait: fc.constantFrom(undefined, 0, 1, 5, 30),
          told: fc.option(fc.record({ remaining: fc.nat(5), secondsLeft: fc.integer({ min: -1, max: 12 }) })),
          interruptedAfter: fc.option(fc.nat(7000))
        }),
        { minLength: 1, maxLength: 40, size: "max" }
      )
    },
    ({ calls, rule }) =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make(rule)
        const early: Array<number> = []
        let closedUntil = Number.NEGATIVE_INFINITY
        const call = ({ end, latency, secondsToWait, told }: typeof calls[number]) =>
          gate.pass((answered) =>
            Effect.gen(function*() {
              const sentAt = yield* Clock.currentTimeMillis
              if (sentAt < closedUntil) early.push(closedUntil - sentAt)
              yield* Effect.sleep(latency)
              if (end === "failed") return yield* Effect.fail(end)
              if (end === "dead") return yield* Effect.die(end)
              const now = yield* Clock.currentTimeMillis
              if (end === "refused") closedUntil = Math.max(closedUntil, now + (secondsToWait ?? 0) * 1000)
              yield* answered(answerOf({
                ...(told === null ? {} : windowOf(told.remaining, Math.floor(now / 1000) + told.secondsLeft, 5)),
                ...(end === "ok" || secondsToWait === undefined ? {} : { "retry-after": String(secondsToWait) })
              }, end === "ok" ? 200 : 429))
            }), asked)
        const fibers = yield* Effect.forEach(calls, (one) =>
          Effect.gen(function*() {
            yield* Effect.sleep(one.after)
            const fiber = yield* Effect.fork(call(one))
            if (one.interruptedAfter !== null) {
              yield* Effect.fork(Effect.delay(Fiber.interrupt(fiber), one.interruptedAfter))
            }
            return fiber
          }))
        yield* Fiber.awaitAll(fibers)
        assert.deepStrictEqual(early, [])
        yield* Effect.sleep("1 day")
        const { millis } = yield* timed(
          Effect.forEach(calls.slice(0, rule?.requests), () => passAtOnce(gate, answerOf()), {
            concurrency: "unbounded"
          })
        )
        // what was on its way to the end without an answer may have been counted
        assert.isAtMost(millis, 5000 + (rule?.windowSeconds ?? 0) * 1000)
      })),
    { fastCheck: { numRuns: runs(60) }, timeout: 60_000 }
  )

  it.effect.prop(
    "no combination of concurrency, latency and limit gets a 429",
    {
      limit: fc.integer({ min: 1, max: 40 }),
      concurrency: fc.integer({ min: 1, max: 60 }),
      latency: fc.integer({ min: 0, max: 3000 }),
      calls: fc.integer({ min: 1, max: 90 })
    },
    ({ calls, concurrency, latency, limit }) =>
      inTime(Effect.gen(function*() {
        const server = strictLimit({ limit, windowMillis: 10_000 })
        const gate = yield* RateLimit.make({ requests: limit, windowSeconds: 10 })
        yield* timed(
          Effect.forEach(Array(calls), () => callTo(gate, server, Effect.succeed(Duration.millis(latency))), {
            concurrency
          })
        )
        assert.deepStrictEqual(server.state, { refused: 0, admitted: calls })
      })),
    { fastCheck: { numRuns: runs(50) } }
  )

  it.effect("a service without such headers is never slowed down, whatever the number of calls", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make()
      const call = gate.pass((answered) => Effect.zipRight(Effect.sleep("1 second"), answered(answerOf())), asked)
      const { millis } = yield* timed(Effect.replicateEffect(call, 1000, { concurrency: "unbounded", discard: true }))
      assert.strictEqual(millis, 1000)
      assert.deepStrictEqual(yield* gate.status, Option.none())
    })))

  it.effect("a service that stops sending headers is no longer slowed down", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make()
      yield* passAtOnce(gate, answerOf(windowOf(0, at(5))))
      yield* timed(passAtOnce(gate, answerOf()))
      const call = gate.pass((answered) => Effect.zipRight(Effect.sleep("1 second"), answered(answerOf())), asked)
      const { millis } = yield* timed(Effect.replicateEffect(call, 100, { concurrency: "unbounded", discard: true }))
      assert.strictEqual(millis, 1000)
    })))

  it.effect("a call that got no answer may have been counted all the same", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make()
      yield* passAtOnce(gate, answerOf(windowOf(1, at(20))))
      yield* Effect.exit(gate.pass(() => Effect.fail("reset"), asked))
      const { millis } = yield* timed(passAtOnce(gate, answerOf()))
      assert.strictEqual(millis, 20_000)
    })))

  it.effect("a gateway that did not reach the service has used nothing of a limit that only the profile tells", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make({ requests: 2, windowSeconds: 60 })
      yield* passAtOnce(gate, answerOf())
      const { millis } = yield* timed(
        Effect.zipRight(Effect.replicateEffect(passAtOnce(gate, answerOf({}, 502)), 5), passAtOnce(gate, answerOf()))
      )
      assert.strictEqual(millis, 0)
      assert.strictEqual((yield* timed(passAtOnce(gate, answerOf()))).millis, 60_000)
    })))

  describe("what a 429 says", () => {
    it.effect("holds back everybody, for exactly that time", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "2" }, 429))
        const went: Array<number> = []
        yield* timed(
          Effect.forEach(Array(10), () =>
            gate.pass(() => Effect.map(Clock.currentTimeMillis, (now) => went.push(now)), asked), {
            concurrency: "unbounded"
          })
        )
        assert.deepStrictEqual(went, Array(10).fill(start + 2000))
      })))

    it.effect("is in the status as nothing left until then, whatever the window has", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ ...windowOf(100, at(20)), "retry-after": "30" }, 429))
        const status = Option.getOrThrow(yield* gate.status)
        assert.deepStrictEqual(status, { limit: 200, remaining: 0, resetsAt: start + 30_000 })
      })))

    it.effect("without a wait holds all until the window ends", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf(windowOf(100, at(20))))
        yield* passAtOnce(gate, answerOf({}, 429))
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 20_000)
      })))

    it.effect("is not taken back by a shorter wait that another call is told", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        const refused = (seconds: number, after: Duration.DurationInput) =>
          passAfter(gate, after, answerOf({ "retry-after": String(seconds) }, 429))
        yield* Effect.all([refused(30, "1 second"), refused(1, "2 seconds")], { concurrency: "unbounded" })
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 29_000)
      })))

    it.effect("fails at once if it exceeds the policy's patience, with the wait", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "100000" }, 429))
        const error = yield* Effect.flip(passAtOnce(gate, answerOf()))
        assert.instanceOf(error, ServiceError.RateLimited)
        assert.strictEqual(error.attempts, 0)
        assert.deepStrictEqual(
          Option.map(Option.fromNullable(error.retryAfter), Duration.toSeconds),
          Option.some(100_000)
        )
      })))

    it.effect("fails at once if it exceeds the policy's patience by less than what a window's end may be off by", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "11" }, 429))
        const { millis, result } = yield* timed(Effect.either(passAtOnce(gate, answerOf())))
        assert.deepStrictEqual([millis, Either.isLeft(result)], [0, true])
      })).pipe(Effect.provide(RetryPolicy.layer({ longestRetryAfter: "10 seconds" }))))

    it.effect("is believed for a minute by a call with less patience, which fails at once", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "50" }, 429))
        for (const left of [50, 35, 20]) {
          const error = yield* Effect.flip(passAtOnce(gate, answerOf()))
          assert.deepStrictEqual(error.retryAfter, Duration.seconds(left))
          yield* Effect.sleep("15 seconds")
        }
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 5000)
      })).pipe(Effect.provide(RetryPolicy.layer({ longestRetryAfter: "10 seconds" }))))

    it.effect("is not questioned once no more than a minute of it is left", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "100" }, 429))
        yield* Effect.sleep("60 seconds")
        const error = yield* Effect.flip(passAtOnce(gate, answerOf()))
        assert.deepStrictEqual(error.retryAfter, Duration.seconds(40))
      })).pipe(Effect.provide(RetryPolicy.layer({ longestRetryAfter: "10 seconds" }))))

    it.effect("is questioned again after that patience, because it may have been nonsense", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "100000" }, 429))
        const isClosed = Effect.map(Effect.either(passAtOnce(gate, answerOf())), Either.isLeft)
        for (const answer of [answerOf({}, 429), answerOf({}, 502)]) {
          yield* Effect.sleep("60 seconds")
          yield* passAtOnce(gate, answer)
          assert.isTrue(yield* isClosed)
        }
      })))

    it.effect("ends if the call that questions it is admitted, and not by an earlier one", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        const earlier = yield* Effect.fork(passAfter(gate, "70 seconds", answerOf()))
        yield* Effect.sleep("1 second")
        yield* passAtOnce(gate, answerOf({ "retry-after": "100000" }, 429))
        yield* Effect.sleep("60 seconds")
        const questioning = yield* Effect.fork(passAfter(gate, "20 seconds", answerOf()))
        yield* Fiber.join(earlier)
        assert.isTrue(Either.isLeft(yield* Effect.either(passAtOnce(gate, answerOf()))))
        yield* Fiber.join(questioning)
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 0)
      })))

    it.effect("ends if the first of two calls that question it is admitted, while the second is on its way", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "100000" }, 429))
        yield* Effect.sleep("60 seconds")
        const first = yield* Effect.fork(passAfter(gate, "100 seconds", answerOf()))
        yield* Effect.sleep("60 seconds")
        const second = yield* Effect.fork(passAfter(gate, "100 seconds", answerOf()))
        yield* Effect.sleep("1 second")
        assert.isTrue(Either.isLeft(yield* Effect.either(passAtOnce(gate, answerOf()))))
        yield* Fiber.join(first)
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 0)
        yield* Fiber.join(second)
      })))

    it.effect("is as long as the call that questions it is told", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "100000" }, 429))
        yield* Effect.sleep("60 seconds")
        yield* passAtOnce(gate, answerOf({ "retry-after": "30" }, 429))
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 30_000)
      })))

    it.effect("is waited for by a policy with more patience", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "300" }, 429))
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 300_000)
      })).pipe(Effect.provide(RetryPolicy.layer({ longestRetryAfter: "10 minutes" }))))

    it.effect.each(["soon", "-5", "", "2 seconds"])(
      "nonsense is ignored: %o",
      (header) =>
        inTime(Effect.gen(function*() {
          const gate = yield* RateLimit.make()
          yield* passAtOnce(gate, answerOf({ "retry-after": header }, 429))
          const { millis } = yield* timed(passAtOnce(gate, answerOf()))
          assert.strictEqual(millis, 0)
        }))
    )
  })

  describe("a wall clock that is set back while calls wait", () => {
    const said: ReadonlyArray<readonly [string, RateLimit.Answer, number]> = [
      ["a 429's closure", answerOf({ "retry-after": "30" }, 429), 30_000],
      ["a window", answerOf(windowOf(0, at(20))), 20_000]
    ]
    it.effect.each(said)("does not prolong %s", ([_, answer, millis]) =>
      inTime(Effect.gen(function*() {
        const wall = yield* settableWallClock
        const gate = yield* RateLimit.make()
        yield* wall.within(passAtOnce(gate, answer))
        wall.set("2 hours", "back")
        const { millis: waited } = yield* timed(wall.within(passAtOnce(gate, answerOf())))
        assert.strictEqual(waited, millis)
      })))

    it.effect("moves the end that the status reports, which is in wall-clock time", () =>
      inTime(Effect.gen(function*() {
        const wall = yield* settableWallClock
        const gate = yield* RateLimit.make()
        yield* wall.within(passAtOnce(gate, answerOf(windowOf(5, at(20)))))
        wall.set("2 hours", "back")
        const status = Option.getOrThrow(yield* wall.within(gate.status))
        assert.strictEqual(status.resetsAt, start + 20_000 - Duration.toMillis("2 hours"))
      })))
  })

  describe("headers", () => {
    const now = Date.UTC(2030, 0, 1)
    const inSeconds = now / 1000

    it.each([
      ["seconds", windowOf(5, inSeconds + 30), { limit: 200, remaining: 5, resetsAt: now + 30_000 }],
      ["milliseconds", windowOf(5, now + 30_000), { limit: 200, remaining: 5, resetsAt: now + 30_000 }]
    ])("Unix time in %s is understood", (_, headers, expected) => {
      assert.deepStrictEqual(reportedLimit(headers, now), Option.some(expected))
    })

    it("the end of the window is relative to the server's own clock", () => {
      const headers = { ...windowOf(5, inSeconds + 3630), date: new Date(now + 3_600_000).toUTCString() }
      assert.deepStrictEqual(
        Option.map(reportedLimit(headers, now), ({ resetsAt }) => resetsAt),
        Option.some(now + 30_000)
      )
    })

    it.each([
      { ...windowOf(5, inSeconds + 30), "x-ratelimit-reset": "tomorrow" },
      { ...windowOf(5, inSeconds + 30), "x-ratelimit-remaining": "-1" },
      { ...windowOf(5, inSeconds + 30), "x-ratelimit-remaining": "many" },
      { ...windowOf(5, inSeconds + 30), "x-ratelimit-limit": "0" },
      windowOf(5, inSeconds - 1),
      windowOf(5, 30),
      windowOf(5, inSeconds + 90_000),
      { "x-ratelimit-remaining": "0" },
      {}
    ])("nonsense, a time in the past or far away, and incomplete headers are ignored: %o", (headers) => {
      assert.deepStrictEqual(reportedLimit(headers, now), Option.none())
    })

    it.each([
      ["of drafts 0 to 6", { "ratelimit-limit": "100", "ratelimit-remaining": "5", "ratelimit-reset": "30" }, 100],
      [
        "of drafts 0 to 6 with policies",
        { "ratelimit-limit": "100, 100;w=60, 1000;w=3600", "ratelimit-remaining": "5", "ratelimit-reset": "30" },
        100
      ],
      [
        "of drafts 0 to 6 with a Unix time, as some send it",
        { "ratelimit-limit": "100", "ratelimit-remaining": "5", "ratelimit-reset": String(inSeconds + 30) },
        100
      ],
      ["of draft 7", { "ratelimit-policy": "100;w=60", ratelimit: "limit=100, remaining=5, reset=30" }, 100],
      ["of draft 8", { "ratelimit-policy": "\"a\";q=100;w=60", ratelimit: "\"a\";r=5;t=30" }, 100],
      ["of draft 8 with a token", { "ratelimit-policy": "a;q=100;w=60", ratelimit: "a;r=5;t=30" }, 100],
      ["without a time", { "ratelimit-policy": "\"a\";q=100;w=30", ratelimit: "\"a\";r=5" }, 100],
      ["without a policy", { ratelimit: "\"a\";r=5;t=30" }, 5],
      [
        "of several policies, by the scarcest",
        {
          "ratelimit-policy": "\"day, all\";q=1000;w=86400;pk=:c2E=:, \"a;b\";q=100;w=60",
          ratelimit: " \"day, all\";r=900;t=3600 , \"a;b\" ; r=5 ; t=30"
        },
        100
      ]
    ])("of the IETF are understood, %s", (_, headers, limit) => {
      assert.deepStrictEqual(reportedLimit(headers, now), Option.some({ limit, remaining: 5, resetsAt: now + 30_000 }))
    })

    it("those of the service's own take precedence", () => {
      const headers = { ...windowOf(5, inSeconds + 30), ratelimit: "\"a\";r=1;t=9" }
      assert.deepStrictEqual(
        reportedLimit(headers, now),
        Option.some({ limit: 200, remaining: 5, resetsAt: now + 30_000 })
      )
    })

    it.each([
      { ratelimit: "" },
      { ratelimit: "\"a\";r=-1;t=30" },
      { ratelimit: "\"a\";r=5;t=soon" },
      { ratelimit: "\"a\";r=5;t=90000" },
      { ratelimit: "limit=0, remaining=5, reset=30" },
      { ratelimit: "limit=100, remaining=5" },
      { "ratelimit-policy": "\"a\";q=many;w=60", ratelimit: "\"a\";r=5;t=30" },
      { "ratelimit-limit": "100", "ratelimit-remaining": "5", "ratelimit-reset": "-3" },
      { "ratelimit-policy": "\"a\";q=100;w=60" }
    ])("of the IETF that are malformed are ignored: %o", (headers) => {
      assert.deepStrictEqual(reportedLimit(headers, now), Option.none())
    })

    it.prop("no header causes a defect, or a wait that is no number", [fc.dictionary(
      fc.constantFrom(
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "ratelimit",
        "ratelimit-policy",
        "ratelimit-limit",
        "ratelimit-remaining",
        "ratelimit-reset",
        "date"
      ),
      fc.oneof(fc.string(), fc.nat().map(String), fc.stringMatching(/^[a"rqtwlimit;=, 0-9]{0,30}$/))
    )], ([headers]) => {
      const found = Option.toArray(reportedLimit(headers, now))
      assert.isAtMost(found.length, 1)
      for (const { limit, remaining, resetsAt } of found) {
        assert.isAbove(limit, 0)
        assert.isAtLeast(remaining, 0)
        assert.isAbove(resetsAt, now)
        assert.isAtMost(resetsAt, now + Duration.toMillis("1 day"))
      }
    })
  })

  describe("waiting", () => {
    it.effect("is visible in a metric, on the span and in the log", () =>
      inTime(Effect.gen(function*() {
        const logged: Array<string> = []
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "3" }, 429))
        const before = yield* countOfWaits
        const attributes = gate.pass(
          () => Effect.map(Effect.orDie(Effect.currentSpan), (span) => span.attributes.get("rateLimit.waitMillis")),
          asked
        ).pipe(
          Effect.withSpan("call"),
          Effect.provide(Logger.replace(
            Logger.defaultLogger,
            Logger.make(({ logLevel, message }) => logged.push(`${logLevel._tag}: ${message}`))
          )),
          Logger.withMinimumLogLevel(LogLevel.Debug)
        )
        assert.deepStrictEqual((yield* timed(attributes)).result, 3000)
        assert.deepStrictEqual(logged, ["Debug: Waited 3s for the service's rate limit"])
        assert.strictEqual((yield* countOfWaits) - before, 1)
      })))

    it.effect("a call that need not wait tells of none, however busy the machine is", () =>
      inTime(Effect.gen(function*() {
        const logged: Array<unknown> = []
        const clock = yield* Effect.clock
        let busy = 0n
        const busyClock: Clock.Clock = {
          [Clock.ClockTypeId]: Clock.ClockTypeId,
          unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis(),
          unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos() + (busy += 7_000_000n),
          currentTimeMillis: clock.currentTimeMillis,
          currentTimeNanos: clock.currentTimeNanos,
          sleep: (duration) => clock.sleep(duration)
        }
        const gate = yield* RateLimit.make()
        const before = yield* countOfWaits
        yield* Effect.replicateEffect(passAtOnce(gate, answerOf()), 3).pipe(
          Effect.withClock(busyClock),
          Effect.provide(Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => logged.push(message)))),
          Logger.withMinimumLogLevel(LogLevel.Debug)
        )
        assert.deepStrictEqual(logged, [])
        assert.strictEqual((yield* countOfWaits) - before, 0)
      })))

    it.effect("calls are sent in order of arrival", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "3" }, 429))
        const went: Array<number> = []
        yield* timed(Effect.forEach(
          [1, 2, 3, 4, 5],
          (n) => gate.pass(() => Effect.sync(() => went.push(n)), asked),
          { concurrency: "unbounded" }
        ))
        assert.deepStrictEqual(went, [1, 2, 3, 4, 5])
      })))

    it.effect("a call that is interrupted while waiting does not block the others", () =>
      inTime(Effect.gen(function*() {
        const gate = yield* RateLimit.make()
        yield* passAtOnce(gate, answerOf({ "retry-after": "3" }, 429))
        const fibers = yield* Effect.replicateEffect(Effect.fork(passAtOnce(gate, answerOf())), 3)
        yield* Effect.sleep("1 second")
        yield* Effect.forEach(fibers, Fiber.interrupt)
        const { millis } = yield* timed(passAtOnce(gate, answerOf()))
        assert.strictEqual(millis, 2000)
      })))

    it.live("an interruption takes effect within 50 milliseconds", () =>
      Effect.gen(function*() {
        const turn = Effect.gen(function*() {
          const gate = yield* RateLimit.make()
          yield* passAtOnce(gate, answerOf({ "retry-after": "30" }, 429))
          const fibers = yield* Effect.replicateEffect(Effect.fork(passAtOnce(gate, answerOf())), 20)
          yield* Effect.sleep("20 millis")
          const [took] = yield* Effect.timed(Effect.forEach(fibers, Fiber.interrupt, { concurrency: "unbounded" }))
          return Duration.toMillis(took)
        })
        // the least of them: what a busy machine adds is not ours
        assert.isBelow(Math.min(...yield* Effect.replicateEffect(turn, 5)), 50)
      }))
  })

  it.effect("a first call of a window that hangs does not block the others forever", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make(rule)
      yield* Effect.fork(gate.pass(() => Effect.never, asked))
      yield* Effect.yieldNow()
      const { millis } = yield* timed(passAtOnce(gate, answerOf()))
      assert.strictEqual(millis, 5000)
    })))

  it.effect("the status subtracts the calls in flight, and says when the end is near", () =>
    inTime(Effect.gen(function*() {
      const gate = yield* RateLimit.make()
      yield* passAtOnce(gate, answerOf(windowOf(21, at(30))))
      const before = Option.getOrThrow(yield* gate.status)
      assert.deepStrictEqual(before, { limit: 200, remaining: 21, resetsAt: start + 30_000 })
      assert.isFalse(RateLimit.isNearEnd(before))
      yield* Effect.replicateEffect(Effect.fork(gate.pass(() => Effect.never, asked)), 2)
      yield* Effect.yieldNow()
      const after = Option.getOrThrow(yield* gate.status)
      assert.strictEqual(after.remaining, 19)
      assert.isTrue(RateLimit.isNearEnd(after))
    })))
})

const countOfWaits = countOf("stevedore_rate_limit_wait")
