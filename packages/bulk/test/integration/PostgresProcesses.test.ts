import { SqlClient } from "@effect/sql/SqlClient"
import { assert, layer } from "@effect/vitest"
import type { SandboxOptions } from "@stevedore/testing"
import { FaultScript } from "@stevedore/testing"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Random, Schedule } from "effect"
import { type Postgres, postgres } from "../../../server/test/support/postgres.js"
import { linked } from "../support/link.js"
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
  const job = (name: string, count: number, options: SandboxOptions.Options = slow, chunkSize = 10) =>
    Effect.flatMap(
      Prepared,
      ({ postgres, runner }) => prepared(postgres, runner, name, { count, chunkSize }, options)
    )

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

  it.scoped("take over what was killed beside the chunks that keep them busy", () =>
    Effect.gen(function*() {
      const { heldBy, proof, runner, sql } = yield* job("busy", 24, {
        faults: FaultScript.on("put").always().delay("2 seconds")
      }, 6)
      const [first, second] = [yield* runner(), yield* runner()]
      yield* until(Effect.zipWith(heldBy(first), heldBy(second), (one, other) => one === 2 && other === 2))
      yield* first.signal("SIGKILL")
      yield* until(Effect.map(heldBy(first), (held) => held === 0))
      const ended = Effect.flatMap(SqlClient, (client) => client`select n from bulk_chunk where state = 2`)
      assert.deepStrictEqual(yield* sql(ended), [])
      assert.strictEqual(yield* heldBy(second), 4)
      yield* proof
    }), 120_000)

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

  for (const cut of ["both", "answers"] as const) {
    it.scoped(
      `lose their chunks when they are cut off from the database past the lease, and may be back afterwards (${cut})`,
      () =>
        Effect.gen(function*() {
          const { database, heldBy, proofAfterFreezing, reached, runner } = yield* job(`cut_${cut}`, 60)
          const line = yield* linked(database.url)
          const first = yield* runner(line.url)
          yield* reached(4)
          yield* line.cut(cut)
          const held = yield* heldBy(first)
          assert.isAbove(held, 0)
          yield* runner()
          yield* until(Effect.map(heldBy(first), (still) => still < held))
          // what the first one has sent in vain arrives when others have its chunks
          yield* line.heal
          yield* proofAfterFreezing
        }),
      120_000
    )
  }

  it.scoped("keep within one rate limit, also when one of them dies with a slice of it", () =>
    Effect.gen(function*() {
      const limit = 30
      const { database, proof, reached, runner, sandbox } = yield* job("limited", 60, {
        rateLimit: { limit, window: "2 seconds" }
      })
      const limited = runner(database.url, { CALLS: `${limit}` })
      const first = yield* limited
      yield* limited
      yield* reached(8)
      yield* first.signal("SIGKILL")
      yield* proof
      const { requests } = yield* sandbox.report
      const calls = requests.filter(({ server }) => server === "api")
      assert.isAtLeast(calls.length, 120)
      assert.deepStrictEqual(calls.filter(({ status }) => status === 429), [])
    }), 120_000)

  it.scoped(
    "end with an error when their database is not there at their start, so that they can be started again",
    () =>
      Effect.gen(function*() {
        const { runner } = yield* job("absent", 1)
        const { ended } = yield* runner("postgres://bulk@127.0.0.1:9/absent")
        assert.strictEqual(yield* ended, 1)
      }),
    120_000
  )

  it.scoped(
    "share four connections behind PgBouncer in transaction mode, and one of them dies",
    () =>
      Effect.gen(function*() {
        const { postgres } = yield* Prepared
        const behind = yield* postgres.pooled
        const { database, proof, reached, runner } = yield* job("pooled", 60)
        const pooled = runner(behind(database.url))
        const first = yield* pooled
        yield* pooled
        yield* reached(8)
        yield* first.signal("SIGKILL")
        yield* proof
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

  // of a file in one PUT, and of one in parts
  for (
    const [order, operation] of [["before", "/upload/complete"], ["after", "/large-upload/complete"]] as const
  ) {
    it.scoped(
      `may be frozen between their record and the answer to Complete, ${order} the service has it`,
      () =>
        Effect.gen(function*() {
          const { heldBy, onCall, proofAfterFreezing, runner, sandbox, sql } = yield* job(`complete_${order}`, 40)
          const first = yield* runner()
          const isFrozen = yield* Deferred.make<string>()
          const mayPass = yield* Deferred.make<void>()
          yield* onCall(operation, (path) =>
            first.signal("SIGSTOP").pipe(
              Effect.zipRight(Deferred.succeed(isFrozen, path)),
              Effect.zipRight(order === "before" ? Deferred.await(mayPass) : Effect.void)
            ))
          const completed = yield* Deferred.await(isFrozen)
          assert.isAbove(yield* heldBy(first), 0)
          const recorded = Effect.flatMap(
            SqlClient,
            (client) => client<{ readonly phase: string }>`select record::json ->> 'phase' as phase from bulk_ledger`
          )
          assert.include((yield* sql(recorded)).map(({ phase }) => phase), "completing")
          const second = yield* runner()
          yield* proofAfterFreezing
          // what the first one had sent before it stood still arrives when the second one has finished everything
          yield* Deferred.succeed(mayPass, undefined)
          yield* first.signal("SIGCONT")
          const answers = Effect.map(
            sandbox.report,
            ({ requests }) => requests.filter(({ path }) => path === completed).map(({ status }) => status)
          )
          yield* until(
            Effect.map(answers, (answers) => answers.length >= 2 && answers.every((status) => status !== undefined))
          )
          assert.deepStrictEqual(new Set(yield* answers), new Set([200]))
          yield* Effect.forEach([first, second], ({ ended, signal }) => Effect.zipRight(signal("SIGTERM"), ended))
          yield* proofAfterFreezing
        }),
      120_000
    )
  }

  for (const order of ["before", "after"] as const) {
    it.scoped(
      `drain when they are asked to end, and nothing is done again: the next one starts ${order}`,
      () =>
        Effect.gen(function*() {
          const { heldBy, proof, reached, runner, sandbox } = yield* job(`drained_${order}`, 60)
          const first = yield* runner()
          yield* reached(7)
          if (order === "before") yield* runner()
          yield* first.signal("SIGTERM")
          yield* first.ended
          assert.strictEqual(yield* heldBy(first), 0)
          if (order === "after") yield* runner()
          yield* proof
          const { requests } = yield* sandbox.report
          const of = (name: string) => requests.filter(({ operation }) => operation === name).length
          assert.strictEqual(of("initiate") + of("initiateLarge"), 60)
        }),
      120_000
    )
  }

  it.scoped("wait for a database that crashes and stays away", () =>
    Effect.gen(function*() {
      const { postgres } = yield* Prepared
      const { proofAfterFreezing, reached, runner, there } = yield* job("crashed", 80)
      yield* runner()
      yield* runner()
      yield* reached(10)
      yield* postgres.crash
      yield* Effect.ensuring(Effect.sleep(outage), postgres.start)
      const before = yield* there
      assert.isBelow(before, 80)
      // longer away than the lease: whoever is back first takes what the others were about to send
      yield* proofAfterFreezing
    }), 120_000 + Duration.toMillis(outage))
})
