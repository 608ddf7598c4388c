import { assert, describe, it } from "@effect/vitest"
import { ConnectionError, RetryPolicy, StorageError, TransferGate } from "@stevedore/core"
import { Duration, Effect, Fiber, Option, Random, Schedule } from "effect"
import { type Line, makeLine, makeRateLimited } from "../fixtures/modelledLine.js"
import { inVirtualTime } from "../fixtures/virtualTime.js"

const MiB = 1_048_576
const gigabit = 125_000_000
const megabit = gigabit / 1000

interface Upload {
  readonly parts: number
  readonly size: number
}

/** How long an upload takes, in seconds; none where a part fails five times, as it may not. */
const secondsOf = (line: Line, upload: Upload, options: TransferGate.Options) =>
  inVirtualTime(Effect.scoped(Effect.gen(function*() {
    const gate = yield* TransferGate.make(options)
    const { put } = yield* makeLine(line)
    yield* Effect.forEach(
      Array.from({ length: upload.parts }),
      () => Effect.retry(gate.pass(put(upload.size), { bytes: upload.size }), { times: 4 }),
      { concurrency: 32, discard: true }
    )
  }))).pipe(Effect.map(({ millis }) => millis / 1000), Effect.option)

const long: Line = { bandwidth: () => gigabit, roundTrip: 0.05, window: MiB }

/** 2 Mbit/s: with more than so many parts at once, storage's answer comes too late for all of them. */
const thin = (answer: number): Line => ({
  bandwidth: () => 2 * megabit,
  roundTrip: 0.05,
  window: MiB,
  chunk: 2 * MiB,
  stall: 60,
  buffer: MiB,
  answer
})

const within = (window: number): Line => ({ bandwidth: () => 10 * gigabit, roundTrip: 0.001, window })

const changing = (before: number, after: number, changesAt: number): Line => ({
  ...long,
  bandwidth: (second) => second < changesAt ? before : after,
  changesAt
})

const widths = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]

const cases: ReadonlyArray<readonly [string, Line, Upload]> = [
  ["50 ms, 1 MiB window, 1 Gbit/s, 128 parts of 16 MiB", long, { parts: 128, size: 16 * MiB }],
  ["50 ms, 1 MiB window, 1 Gbit/s, 256 parts of 8 MiB", long, { parts: 256, size: 8 * MiB }],
  ["2 Mbit/s, time-outs from 8 parts at once", thin(30), { parts: 128, size: 16 * MiB }],
  ["2 Mbit/s, time-outs from 5 parts at once", thin(20), { parts: 128, size: 16 * MiB }],
  ["2 Mbit/s, time-outs from 3 parts at once", thin(10), { parts: 128, size: 16 * MiB }],
  ["1 Gbit/s that falls to 100 Mbit/s after 10 s", changing(gigabit, 100 * megabit, 10), {
    parts: 128,
    size: 16 * MiB
  }],
  ["20 Mbit/s that rises to 1 Gbit/s after 2 min", changing(20 * megabit, gigabit, 120), {
    parts: 128,
    size: 16 * MiB
  }],
  ["10 Gbit/s within a data center, 1 Gbit/s per connection", within(125_000), { parts: 1280, size: 16 * MiB }],
  ["10 Gbit/s within a data center, filled by one connection", within(MiB), { parts: 1280, size: 16 * MiB }]
]

const show = (seconds: Option.Option<number>): string =>
  Option.match(seconds, { onNone: () => "never", onSome: (taken) => taken.toFixed(1) })

const tableRow = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

describe("the width of the gate, on modelled lines", () => {
  describe("ends within 10 % of the best fixed width of a sweep over 1 to 32", () => {
    it.effect.each(cases)("%s", ([name, line, upload]) =>
      Effect.gen(function*() {
        const fixed = yield* Effect.forEach(
          widths,
          (limit) => Effect.map(secondsOf(line, upload, { limit, adaptive: false }), (taken) => ({ limit, taken }))
        )
        const best = Math.min(...fixed.map(({ taken }) => Option.getOrElse(taken, () => Infinity)))
        const own = yield* secondsOf(line, upload, {})
        const ratio = Option.getOrElse(own, () => Infinity) / best
        yield* Effect.sync(() =>
          process.stdout.write(
            tableRow([name, ...fixed.map(({ taken }) => show(taken)), show(own), ratio.toFixed(3)]) + "\n"
          )
        )
        assert.isAtMost(ratio, 1.1)
      }), 60_000)
  })

  it.effect("starts no more transfers where few fill the network, and soon fewer than at the start", () =>
    inVirtualTime(Effect.scoped(Effect.gen(function*() {
      const gate = yield* TransferGate.make()
      const { put } = yield* makeLine(within(MiB))
      const seen: Array<number> = []
      yield* Effect.forEach(Array.from({ length: 256 }), () =>
        Effect.zipRight(
          gate.pass(put(16 * MiB), { bytes: 16 * MiB }),
          Effect.map(gate.state, ({ width }) => void seen.push(width))
        ), { concurrency: 32, discard: true })
      assert.strictEqual(Math.max(...seen), 6)
      assert.isAtMost(Math.max(...seen.slice(128)), 4)
    }))))

  it.effect(
    "2 GB of large parts and a line that is never the same: it ends near the best all the same",
    () =>
      Effect.gen(function*() {
        // Each part has a speed of its own, from half to one and a half of what it should be
        const run = (options: TransferGate.Options) =>
          inVirtualTime(Effect.scoped(Effect.gen(function*() {
            const gate = yield* TransferGate.make(options)
            const { put } = yield* makeLine(long)
            yield* Effect.forEach(
              Array.from({ length: 256 }),
              () =>
                Effect.flatMap(
                  Random.nextIntBetween(4 * MiB, 12 * MiB),
                  (size) => gate.pass(put(size), { bytes: size })
                ),
              { concurrency: 32, discard: true }
            )
          }))).pipe(Effect.map(({ millis }) => millis))
        for (const seed of ["a", "b", "c", "d", "e"]) {
          const seeded = <A, E>(effect: Effect.Effect<A, E>) => Effect.withRandom(effect, Random.make(seed))
          const best = yield* seeded(run({ limit: 32, adaptive: false }))
          const own = yield* seeded(run({}))
          assert.isAtMost(own / best, 1.2)
        }
      }),
    60_000
  )

  describe("under a server that refuses what goes over its rate", () => {
    it.effect.each([
      { perSecond: 20, millis: 100, share: 0.01 },
      { perSecond: 20, millis: 500, share: 0.01 },
      { perSecond: 100, millis: 100, share: 0.01 },
      { perSecond: 200, millis: 20, share: 0.01 },
      // Even one at a time is five times too fast: nothing but the pauses helps
      { perSecond: 20, millis: 10, share: 0.1 }
    ])("few are refused, none fails: %o", ({ millis, perSecond, share }) =>
      Effect.gen(function*() {
        const requests = 2000
        const { millis: taken, result } = yield* inVirtualTime(Effect.scoped(Effect.gen(function*() {
          const gate = yield* TransferGate.make()
          const { counts, put } = yield* makeRateLimited(perSecond, millis)
          const attempt = (attempts: number) =>
            gate.pass(put).pipe(
              Effect.mapError(({ code, status }) => new StorageError.StorageUnavailable({ code, status, attempts }))
            )
          yield* Effect.forEach(
            Array.from({ length: requests }),
            () => RetryPolicy.retry(attempt, { onRetry: (_error, wait) => gate.pause(wait) }),
            { concurrency: 32, discard: true }
          )
          return counts
        })))
        yield* Effect.sync(() =>
          process.stdout.write(
            tableRow([
              `${perSecond}/s at ${millis} ms`,
              `${result.refused} of ${requests} refused`,
              `${(taken / 1000).toFixed(0)} s, at best ${requests / perSecond} s`
            ]) + "\n"
          )
        )
        assert.isAtMost(result.refused, share * requests)
        assert.isAtMost(taken / 1000, 1.5 * requests / perSecond)
      }), 60_000)
  })

  /** A network in which so many connections fit, at most; any further one is not established, after some seconds. */
  const withConnections = (connections: () => number, refusedAfter: number) => {
    let open = 0
    const refused = refusedAfter === 0
      ? new ConnectionError.ConnectionFailed({ peer: "storage", origin: "https://s.test", arrived: "no" })
      : new ConnectionError.TimedOut({ peer: "storage", phase: "connect", after: Duration.seconds(refusedAfter) })
    return Effect.suspend(() =>
      open >= connections()
        ? Effect.delay(Effect.fail(refused), Duration.seconds(refusedAfter))
        : Effect.acquireUseRelease(
          Effect.sync(() => open += 1),
          () => Effect.sleep("20 seconds"),
          () => Effect.sync(() => open -= 1)
        )
    )
  }

  describe("where only some connections are established", () => {
    it.effect.each([[1, 0, 32], [2, 0, 32], [4, 0, 32], [2, 5, 32], [2, 30, 32], [2, 0, 4], [1, 0, 2]] as const)(
      "as many are used as go on: %d, with the others failing after %d s, of %d parts at once",
      ([connections, refusedAfter, concurrency]) =>
        Effect.gen(function*() {
          const parts = 40
          const { millis } = yield* inVirtualTime(Effect.scoped(Effect.gen(function*() {
            const gate = yield* TransferGate.make()
            const put = withConnections(() => connections, refusedAfter)
            const attempt = (attempts: number) =>
              Effect.mapError(gate.pass(put), (error) => ({ recovery: error.recovery, attempts }))
            yield* Effect.forEach(Array.from({ length: parts }), () => RetryPolicy.retry(attempt), {
              concurrency,
              discard: true
            })
          })))
          assert.isAtMost(millis / 1000, 1.5 * (parts / connections) * 20)
        })
    )

    it.effect.each([0, 5, 30])(
      "an outage of five minutes does not narrow it, with failures after %d s",
      (refusedAfter) =>
        inVirtualTime(Effect.scoped(Effect.gen(function*() {
          const gate = yield* TransferGate.make()
          let isAway = true
          const put = withConnections(() => isAway ? 0 : 1000, refusedAfter)
          const transfers = yield* Effect.fork(Effect.forEach(
            Array.from({ length: 200 }),
            () => Effect.retry(gate.pass(put), { schedule: Schedule.jittered(Schedule.spaced("10 seconds")) }),
            { concurrency: 32, discard: true }
          ))
          yield* Effect.sleep("5 minutes")
          isAway = false
          yield* Effect.sleep("2 minutes")
          assert.isAtLeast((yield* gate.state).width, 6)
          yield* Fiber.interrupt(transfers)
        })))
    )
  })
})
