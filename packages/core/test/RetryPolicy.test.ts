import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy } from "@stevedore/core"
import { Duration, Effect, FastCheck as fc, Fiber, Layer, Random, Schedule, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import * as RetryBudget from "../src/service/retryBudget.js"
import { failure, timesOf } from "./fixtures/retryPolicy.js"

const waitsOf = (times: ReadonlyArray<number>): ReadonlyArray<number> =>
  times.slice(1).map((time, index) => time - (times[index] ?? 0))

describe("RetryPolicy", () => {
  describe("the number of attempts", () => {
    it.effect.prop("is exactly the policy's, including the first, for what a retry can help", {
      attempts: fc.integer({ min: 1, max: 12 }),
      recovery: fc.constantFrom("retry" as const, "slowDown" as const)
    }, ({ attempts, recovery }) =>
      Effect.gen(function*() {
        const { error, times } = yield* timesOf((attempt) => failure(recovery, attempt), { attempts })
        assert.lengthOf(times, attempts)
        assert.strictEqual(error.attempts, attempts)
      }), { fastCheck: { numRuns: runs(12) } })

    it.effect("is 5 unless the policy says otherwise", () =>
      Effect.map(timesOf((attempt) => failure("retry", attempt)), ({ times }) => assert.lengthOf(times, 5)))

    it.effect.each(["none", "newSession"] as const)(
      "is 1 for what no retry can help: %s",
      (recovery) =>
        Effect.map(timesOf((attempt) => failure(recovery, attempt)), ({ times }) => assert.lengthOf(times, 1))
    )

    it.effect("is 2 for what is retried once", () =>
      Effect.map(timesOf((attempt) => failure("retryOnce", attempt)), ({ times }) => assert.lengthOf(times, 2)))

    it.effect.each([0, -3, 0.5, 1])("is never below 1: a policy of %d", (attempts) =>
      Effect.map(
        timesOf((attempt) => failure("retry", attempt), { attempts }),
        ({ times }) => assert.lengthOf(times, 1)
      ))

    it.effect("is 5 if the policy's value is not a number, such as one from an unset variable", () =>
      Effect.map(
        timesOf((attempt) => failure("retry", attempt), { attempts: Number.NaN }),
        ({ times }) => assert.lengthOf(times, 5)
      ))

    it.effect("is 1 if retries are turned off", () =>
      Effect.gen(function*() {
        let count = 0
        const request = (attempts: number) =>
          Effect.suspend(() => Effect.fail(failure("retry", attempts + 0 * count++)))
        yield* Effect.flip(Effect.provide(RetryPolicy.retry(request), RetryPolicy.none))
        assert.strictEqual(count, 1)
      }))

    it.effect("starts over each time the effect runs", () =>
      Effect.gen(function*() {
        const seen: Array<number> = []
        const request = RetryPolicy.retry((attempt) => {
          seen.push(attempt)
          return attempt < 3 ? Effect.fail(failure("retry", attempt)) : Effect.succeed(attempt)
        })
        for (const _ of [1, 2]) {
          const fiber = yield* Effect.fork(request)
          yield* TestClock.adjust("1 day")
          assert.strictEqual(yield* Fiber.join(fiber), 3)
        }
        assert.deepStrictEqual(seen, [1, 2, 3, 1, 2, 3])
      }))

    it.effect("is narrowed by `while`", () =>
      Effect.map(
        timesOf((attempt) => failure("retry", attempt), {}, { while: (error) => error.attempts < 3 }),
        ({ times }) => assert.lengthOf(times, 3)
      ))
  })

  describe("the wait", () => {
    it.effect.prop("is random between zero and a back-off that doubles up to its cap", {
      seed: fc.integer(),
      base: fc.integer({ min: 1, max: 5000 }),
      cap: fc.integer({ min: 1, max: 60_000 })
    }, ({ base, cap, seed }) =>
      Effect.gen(function*() {
        const { times } = yield* Effect.withRandom(
          timesOf((attempt) => failure("retry", attempt), {
            attempts: 10,
            base: Duration.millis(base),
            cap: Duration.millis(cap)
          }),
          Random.make(seed)
        )
        waitsOf(times).forEach((wait, index) => {
          assert.isAtLeast(wait, 0)
          assert.isAtMost(wait, Math.min(cap, base * 2 ** index) + 1)
        })
      }), { fastCheck: { numRuns: runs(12) } })

    it.effect("uses the whole range: full jitter, not a little", () =>
      Effect.gen(function*() {
        const policy = RetryPolicy.make()
        const waits = yield* Effect.replicateEffect(RetryPolicy.wait(policy, failure("retry", 1)), 500)
        const shares = waits.map((wait) => Duration.toMillis(wait) / 500)
        assert.isBelow(Math.min(...shares), 0.1)
        assert.isAbove(Math.max(...shares), 0.9)
        assert.approximately(shares.reduce((sum, share) => sum + share, 0) / shares.length, 0.5, 0.1)
      }).pipe(Effect.withRandom(Random.make("jitter"))))

    it.effect("waits for whole milliseconds, which every clock can keep", () =>
      Effect.gen(function*() {
        const waits = yield* Effect.replicateEffect(RetryPolicy.wait(RetryPolicy.make(), failure("retry", 1)), 100)
        assert.deepStrictEqual(waits.filter((wait) => !Number.isInteger(Duration.toMillis(wait))), [])
      }))

    it.prop("has a longest back-off that never decreases with the attempts and never exceeds the cap", {
      attempt: fc.integer({ min: 1, max: 2000 }),
      base: fc.integer({ min: 0, max: 10_000 }),
      cap: fc.integer({ min: 0, max: 100_000 })
    }, ({ attempt, base, cap }) => {
      const policy = RetryPolicy.make({ base: Duration.millis(base), cap: Duration.millis(cap) })
      const longest = Duration.toMillis(RetryPolicy.longestBackOff(policy, attempt))
      assert.isAtMost(longest, cap)
      assert.isAtMost(longest, Duration.toMillis(RetryPolicy.longestBackOff(policy, attempt + 1)))
      assert.strictEqual(longest, Math.min(cap, base * 2 ** Math.min(attempt - 1, 30)))
    })

    it.effect("is at most what a schedule says, which also says how many attempts there are", () =>
      Effect.gen(function*() {
        const schedule = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(4))
        const layer = RetryPolicy.fromSchedule(schedule)
        const { error, times } = yield* timesOf((attempt) => failure("retry", attempt), {}, {}, layer)
        assert.strictEqual(error.attempts, 5)
        assert.isAtMost(Math.max(...waitsOf(times)), 100)
        const policies = yield* Effect.forEach(
          [
            RetryPolicy.fromSchedule(Schedule.recurs(0)),
            RetryPolicy.fromSchedule(Schedule.exponential("1 second")),
            RetryPolicy.fromSchedule(Schedule.forever)
          ],
          (layer) => Effect.provide(RetryPolicy.RetryPolicy, layer)
        )
        assert.deepStrictEqual(policies.map(({ attempts }) => attempts), [1, 101, 101])
        assert.deepStrictEqual(
          policies.map((policy) => Duration.toMillis(RetryPolicy.longestBackOff(policy, 4))),
          [4000, 8000, 0]
        )
      }))

    it.effect.prop("is exactly what the server asks, up to the longest accepted wait", {
      millis: fc.integer({ min: 0, max: 60_000 })
    }, ({ millis }) =>
      Effect.gen(function*() {
        const { times } = yield* timesOf((attempt) => failure("slowDown", attempt, Duration.millis(millis)), {
          attempts: 4
        })
        assert.deepStrictEqual(times, [0, millis, 2 * millis, 3 * millis])
      }), { fastCheck: { numRuns: runs(12) } })

    it.effect("does not happen if the server asks for more than that: the error comes at once, with the requested wait", () =>
      Effect.gen(function*() {
        const { error, times } = yield* timesOf((attempt) => failure("slowDown", attempt, "60001 millis"))
        assert.deepStrictEqual(times, [0])
        assert.deepStrictEqual(error.retryAfter, Duration.millis(60_001))
        const longer = yield* timesOf((attempt) => failure("slowDown", attempt, "60001 millis"), {
          attempts: 2,
          longestRetryAfter: "2 minutes"
        })
        assert.deepStrictEqual(longer.times, [0, 60_001])
      }))

    it.effect("ends at once when it is interrupted, and nothing is requested after it", () =>
      Effect.gen(function*() {
        let count = 0
        const request = (attempt: number) =>
          Effect.suspend(() => {
            count++
            return Effect.fail(failure("slowDown", attempt, "30 seconds"))
          })
        const fiber = yield* Effect.fork(Effect.flip(RetryPolicy.retry(request)))
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.interrupt(fiber)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(count, 1)
      }))
  })

  describe("a budget", () => {
    it.effect("that is used up ends the retries, however many attempts the policy allows", () =>
      Effect.map(
        timesOf((attempt) => failure("retry", attempt), { attempts: 10 }, { budget: RetryBudget.make(15) }),
        ({ times }) => assert.lengthOf(times, 4)
      ))

    it.effect("is not charged for what is not retried, and is refilled by successes", () =>
      Effect.gen(function*() {
        const budget = RetryBudget.make(15)
        yield* timesOf((attempt) => failure("none", attempt), {}, { budget })
        yield* timesOf((attempt) => failure("retry", attempt), {}, { budget, while: () => false })
        yield* timesOf((attempt) => failure("retry", attempt), { attempts: 2 }, { budget })
        assert.strictEqual(budget.left(), 10)
        yield* RetryPolicy.retry(() => Effect.void, { budget })
        assert.strictEqual(budget.left(), 11)
      }))

    it.effect("of an upload allows twice the attempts once three parts are stored, and one if there is one", () =>
      Effect.gen(function*() {
        const budget = RetryBudget.forUpload({ attempts: 3, concurrency: 4 })
        const attempts = (policy: number) =>
          Effect.map(
            timesOf((attempt) => failure("retry", attempt), { attempts: policy }, { budget }),
            ({ times }) => times.length
          )
        assert.strictEqual(yield* attempts(3), 3)
        yield* Effect.replicateEffect(RetryPolicy.retry(() => Effect.void, { budget }), 3)
        assert.strictEqual(yield* attempts(3), 6)
        assert.strictEqual(yield* attempts(1), 1)
      }))
  })

  it.effect("tells each wait to who provides a listener, and none that does not happen", () =>
    Effect.gen(function*() {
      const told: Array<readonly [attempts: number, millis: number]> = []
      const fiber = yield* Effect.fork(Effect.exit(
        RetryPolicy.retry((attempt) => Effect.fail(failure("retry", attempt, "3 seconds"))).pipe(
          Effect.provideService(RetryPolicy.OnWait, ({ attempts }, wait) =>
            Effect.sync(() => told.push([attempts, Duration.toMillis(wait)]))),
          Effect.provide(RetryPolicy.layer({ attempts: 3 }))
        )
      ))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(told, [[1, 3000], [2, 3000]])
    }))

  it.effect("reports each retry before its wait, and none that does not happen", () =>
    Effect.gen(function*() {
      const told: Array<readonly [number, number]> = []
      const { times } = yield* timesOf((attempt) => failure("retry", attempt), { attempts: 4 }, {
        onRetry: (error, wait) => Effect.sync(() => told.push([error.attempts, Math.floor(Duration.toMillis(wait))]))
      })
      assert.deepStrictEqual(told.map(([attempt]) => attempt), [1, 2, 3])
      waitsOf(times).forEach((wait, index) => assert.approximately(wait, told[index]?.[1] ?? NaN, 1))
    }))

  describe("the policy in force", () => {
    it.effect("is read when the operation runs, so that it can be replaced for one effect", () =>
      Effect.gen(function*() {
        const attempts = Effect.map(RetryPolicy.RetryPolicy, (policy) => policy.attempts)
        assert.strictEqual(yield* attempts, 5)
        assert.strictEqual(yield* Effect.provide(attempts, RetryPolicy.layer({ attempts: 8 })), 8)
        assert.strictEqual(yield* Effect.provide(attempts, RetryPolicy.none), 1)
      }))

    it.effect("is passed on by a layer that is built under it", () =>
      Effect.gen(function*() {
        const attempts = Effect.map(RetryPolicy.RetryPolicy, (policy) => policy.attempts)
        const built = Layer.provide(
          Layer.effect(RetryPolicy.RetryPolicy, RetryPolicy.RetryPolicy),
          RetryPolicy.layer({ attempts: 7 })
        )
        assert.strictEqual(yield* Effect.provide(attempts, built), 7)
        assert.strictEqual(
          yield* Effect.provide(attempts, Layer.effect(RetryPolicy.RetryPolicy, RetryPolicy.RetryPolicy)),
          5
        )
      }))
  })
})
