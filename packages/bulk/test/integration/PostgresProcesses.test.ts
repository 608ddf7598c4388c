import { SqlClient } from "@effect/sql/SqlClient"
import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Random, Schedule } from "effect"
import { type Postgres, postgres } from "../support/postgres.js"
import { prepared, script } from "../support/processes.js"

const number = (variable: string, otherwise: number): number => Number(process.env[variable] ?? otherwise)

// For a longer run: STEVEDORE_BULK_SEEDS=20 STEVEDORE_BULK_OUTAGE=60
const seeds = number("STEVEDORE_BULK_SEEDS", 2)
const outage = Duration.seconds(number("STEVEDORE_BULK_OUTAGE", 4))

class Prepared extends Context.Tag("test/Prepared")<Prepared, {
  readonly postgres: Postgres
  readonly runner: string
}>() {}

const slow = { faults: FaultScript.on("put").always().delay("40 millis") }

const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(condition, { until: (is) => is, schedule: Schedule.spaced("20 millis") })

layer(Layer.scoped(Prepared, Effect.all({ postgres, runner: script("runner") })), {
  excludeTestServices: true,
  timeout: 120_000
})("runners that are processes", (it) => {
  const job = (name: string, count: number, chunkSize = 10) =>
    Effect.flatMap(Prepared, ({ postgres, runner }) => prepared(postgres, runner, name, { count, chunkSize }, slow))

  for (let seed = 0; seed < seeds; seed++) {
    it.scoped(`are killed at random moments: seed ${seed}`, () =>
      Effect.gen(function*() {
        const { proof, reached, runner, there } = yield* job(`killed_${seed}`, 90)
        let runners = [yield* runner(), yield* runner()]
        for (let kill = 0; kill < 3; kill++) {
          const before = yield* there
          yield* reached(Math.min(89, before + (yield* Random.nextIntBetween(1, 20))))
          yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(0, 60)))
          const victim = runners[yield* Random.nextIntBetween(0, 2)]
          if (victim === undefined) return assert.fail("two runners")
          yield* victim.signal("SIGKILL")
          runners = [...runners.filter((one) => one !== victim), yield* runner()]
        }
        yield* proof
      }).pipe(Effect.withRandom(Random.make(seed))), 120_000)
  }

  it.scoped(
    "lose their chunks when they are frozen past the lease, and may wake up afterwards",
    () =>
      Effect.gen(function*() {
        const { heldBy, proofAfterFreezing, reached, runner } = yield* job("frozen", 60)
        const first = yield* runner()
        yield* reached(4)
        yield* first.signal("SIGSTOP")
        const held = yield* heldBy(first)
        assert.isAbove(held, 0)
        yield* runner()
        yield* until(Effect.map(heldBy(first), (still) => still < held))
        yield* first.signal("SIGCONT")
        yield* proofAfterFreezing
      }),
    120_000
  )

  it.scoped("do not hold up the others when they are frozen within a statement", () =>
    Effect.gen(function*() {
      const { heldBy, proofAfterFreezing, reached, runner, sql } = yield* job("within", 40)
      const first = yield* runner()
      yield* reached(4)
      // the outcomes of the chunk wait for this lock, and then are committed for somebody who does not hear of it
      const isLocked = yield* Deferred.make<void>()
      const isFrozen = yield* Deferred.make<void>()
      const locking = Effect.gen(function*() {
        const client = yield* SqlClient
        yield* client.withTransaction(Effect.gen(function*() {
          yield* client`select n from bulk_chunk where runner is not null for update`
          yield* Deferred.succeed(isLocked, undefined)
          yield* Deferred.await(isFrozen)
        }))
      })
      const lock = yield* Effect.fork(sql(locking))
      yield* Deferred.await(isLocked)
      const isWaiting = Effect.flatMap(SqlClient, (client) =>
        Effect.map(
          client`select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%bulk_file f set%'
            and datname = current_database()`,
          (rows) => rows.length > 0
        ))
      yield* until(sql(isWaiting))
      yield* first.signal("SIGSTOP")
      yield* Deferred.succeed(isFrozen, undefined)
      yield* Fiber.join(lock)
      yield* runner()
      yield* until(Effect.map(heldBy(first), (held) => held === 0))
      yield* proofAfterFreezing
      yield* first.signal("SIGCONT")
      yield* Effect.sleep("1 second")
      yield* proofAfterFreezing
    }), 120_000)

  it.scoped("drain when they are asked to end, and nothing is done again", () =>
    Effect.gen(function*() {
      const { heldBy, proof, reached, runner, sandbox } = yield* job("drained", 60)
      const first = yield* runner()
      yield* reached(7)
      yield* first.signal("SIGTERM")
      yield* first.ended
      assert.strictEqual(yield* heldBy(first), 0)
      yield* runner()
      yield* proof
      const { requests } = yield* sandbox.report
      const of = (name: string) => requests.filter(({ operation }) => operation === name).length
      assert.strictEqual(of("initiate") + of("initiateLarge"), 60)
    }), 120_000)

  it.scoped("wait for a database that crashes and stays away", () =>
    Effect.gen(function*() {
      const { postgres } = yield* Prepared
      const { proof, reached, runner, there } = yield* job("crashed", 80)
      yield* runner()
      yield* runner()
      yield* reached(10)
      yield* postgres.crash
      yield* Effect.ensuring(Effect.sleep(outage), postgres.start)
      const before = yield* there
      assert.isBelow(before, 80)
      yield* proof
    }), 120_000 + Duration.toMillis(outage))
})
