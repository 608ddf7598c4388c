import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import * as SqlRateLimit from "../../src/parts/sqlRateLimit.js"
import { RateLimit } from "../../src/RateLimit.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import { database } from "../support/sqlite.js"

const limited = (window: number) =>
  SqlRateLimit.layer({ limit: 2, window }).pipe(
    Layer.provideMerge(SqlFileTable.layer),
    Layer.provide(database)
  )

const admitted = (tenant: string) =>
  Effect.flatMap(RateLimit, (limit) => Effect.map(limit(tenant), Option.map(({ admitted }) => admitted)))

describe("a limit in SQL", () => {
  it.live("counts the requests of each tenant, and says what is left", () =>
    Effect.gen(function*() {
      const limit = yield* RateLimit
      const first = yield* Effect.flatten(limit("acme"))
      assert.deepStrictEqual([first.admitted, first.headers["x-ratelimit-remaining"]], [true, "1"])
      assert.deepStrictEqual(yield* admitted("acme"), Option.some(true))
      const third = yield* Effect.flatten(limit("acme"))
      assert.deepStrictEqual([third.admitted, third.headers["x-ratelimit-remaining"]], [false, "0"])
      assert.isAtLeast(third.retryAfter, 1)
      assert.deepStrictEqual(yield* admitted("other"), Option.some(true))
    }).pipe(Effect.provide(limited(3_600_000))), 60_000)

  it.live("begins again when its window has ended", () =>
    Effect.gen(function*() {
      yield* Effect.all([admitted("acme"), admitted("acme"), admitted("acme")])
      yield* Effect.sleep(400)
      assert.deepStrictEqual(yield* admitted("acme"), Option.some(true))
    }).pipe(Effect.provide(limited(300))), 60_000)
})
