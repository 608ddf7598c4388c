import { SqlClient } from "@effect/sql/SqlClient"
import { assert, layer } from "@effect/vitest"
import type { SandboxOptions } from "@stevedore/testing"
import { FaultScript } from "@stevedore/testing"
import { Context, Effect, Layer, Option } from "effect"
import { freePort } from "../../../../.ci/free-port.mjs"
import { type Postgres, postgres } from "../../../server/test/support/postgres.js"
import { prepared, script, until } from "../support/processes.js"

class Prepared extends Context.Tag("test/Drivers")<Prepared, {
  readonly postgres: Postgres
  readonly clusterRunner: string
  readonly oneJob: string
}>() {}

const slow: SandboxOptions.Options = { faults: FaultScript.on("put").always().delay("150 millis") }

const prepare = Effect.all({ postgres, clusterRunner: script("clusterRunner"), oneJob: script("oneJob") })

layer(Layer.scoped(Prepared, prepare), { excludeTestServices: true, timeout: 120_000 })("processes", (it) => {
  it.scoped(
    "that are runners of one cluster finish each file once when one of them is killed",
    () =>
      Effect.gen(function*() {
        const { clusterRunner, postgres } = yield* Prepared
        const { database, heldBy, proof, reached, runner, sql } = yield* prepared(
          postgres,
          clusterRunner,
          "cluster",
          { count: 120, chunkSize: 10 },
          slow
        )
        const member = Effect.flatMap(Effect.promise(freePort), (port) =>
          runner(database.url, { CLUSTER_PORT: `${port}` }))
        const members = yield* Effect.all([member, member])
        yield* reached(5)
        // either may be up much later than the other, with all chunks at that one
        const holder = Effect.findFirst(members, (one) =>
          Effect.map(heldBy(one), (held) => held > 0))
        const killed = yield* Effect.flatten(until("a runner holds a chunk", holder, Option.isSome))
        yield* killed.signal("SIGKILL")
        yield* until("the other has taken its chunks", heldBy(killed), (held) => held === 0)
        yield* proof
        // the cluster has nothing left of what has ended, but for what a killed runner had to delete
        const messages = Effect.flatMap(SqlClient, (sql) => sql`select id from cluster_messages`)
        yield* until("their messages are gone", sql(messages), ({ length }) => length <= 8)
      }),
    120_000
  )

  it.scoped("that have run a job end by themselves, though they had a runner", () =>
    Effect.gen(function*() {
      const { oneJob, postgres } = yield* Prepared
      const { proof, runner } = yield* prepared(postgres, oneJob, "ends", { count: 12, chunkSize: 5 })
      const { ended } = yield* runner()
      yield* proof
      assert.strictEqual(yield* Effect.timeout(ended, "8 seconds"), 0)
    }), 120_000)
})
