import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, Fiber } from "effect"
import { postgres } from "../../../server/test/support/postgres.js"
import { jobs, prepared } from "./bulkSupport.js"
import { invoke } from "./invoke.js"

describe("stevedore bulk in PostgreSQL", () => {
  it.scopedLive(
    "submits here, runs there, and is watched and steered from anywhere, also through an outage",
    () =>
      Effect.gen(function*() {
        const database = yield* postgres
        const { env, files, proof, there } = yield* prepared(30, {
          faults: FaultScript.on("put").always().delay("50 millis")
        })
        const watching = { STEVEDORE_DATABASE_URL: database.url }
        const submit = ["bulk", "start", "far", files, "--mount", "archive", "--submit-only", "--chunk", "5"]
        assert.match((yield* invoke(submit, watching)).stdout, /^far\trunning\t0\t0\t30\t/)
        const watch = yield* Effect.fork(invoke(["bulk", "status", "far", "--watch", "--json"], watching))
        const words = ["--files", "2", "--lease", "3", "--database-env", "DATABASE_URL"]
        const runner = (...more: ReadonlyArray<string>) =>
          Effect.fork(invoke(["bulk", "run", ...more, ...words], { ...env, DATABASE_URL: database.url }))
        // one that has other files, and one that has these
        const other = yield* runner("--root", "elsewhere=/nowhere")
        const [first, second] = [
          yield* runner("--root", `archive=${files}`),
          yield* runner("--root", `archive=${files}`)
        ]
        yield* Effect.repeat(Effect.delay(there, "20 millis"), { until: (there) => there >= 5 })
        const paused = yield* invoke(["bulk", "pause", "far", "--json"], watching)
        assert.deepInclude(jobs(paused.stdout)[0], { state: "paused", failed: 0 })
        yield* invoke(["bulk", "resume", "far"], watching)
        yield* database.crash
        const away = yield* invoke(["bulk", "status"], watching)
        assert.strictEqual(away.code, 1)
        assert.match(away.stderr, /The database with the jobs failed: .*ECONNREFUSED/)
        assert.notInclude(away.stderr, database.url)
        yield* database.start
        const { code, stdout } = yield* Fiber.join(watch)
        assert.strictEqual(code, 0)
        assert.deepInclude(jobs(stdout).at(-1), { state: "done", total: 30, uploaded: 30, failed: 0 })
        yield* proof
        yield* Effect.forEach([other, first, second], Fiber.interrupt, { discard: true })
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )
})
