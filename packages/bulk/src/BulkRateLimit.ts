/** One rate limit for all processes that use a token, in the database. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as RateLimit from "@stevedore/core/RateLimit"
import * as SqlRateLimit from "@stevedore/server/parts/sqlRateLimit"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import { patient } from "./jobs/statements.js"

/**
 * A limit that several processes share.
 *
 * @category models
 */
export interface Options {
  /**
   * The name of the token in the database, such as {@link tokenName}; never the token itself. Processes with the same
   * name share the limit.
   */
  readonly token: string
  /** How many calls all processes together may make in a window, at least 1. */
  readonly limit: number
  readonly window: Duration.DurationInput
  /**
   * How many calls a process takes at a time, at least 1. Defaults to a twentieth of the limit. What a process that dies
   * has taken and not used is lost until the window ends.
   */
  readonly slice?: number | undefined
}

/**
 * The name of a token in the database, for who has no other: a hash of it and of the service, from which neither can be
 * told. Each token of a service then has a limit of its own, as the service counts it.
 *
 * @category constructors
 */
export const tokenName = (service: {
  readonly baseUrl: URL | string
  readonly token: Redacted.Redacted
}): string =>
  createHash("sha256")
    .update(JSON.stringify([new URL(service.baseUrl).href, Redacted.value(service.token)]))
    .digest("hex")
    .slice(0, 32)

/** The service's window begins with the first call that reaches it, and so a little later than the row says. */
const margin = Duration.millis(250)

interface Slice {
  readonly left: number
  /** In nanoseconds of this process. */
  readonly until: bigint
}

/**
 * A gate whose limit is a row of the database, by the database's clock: the clocks of the processes do not matter. A call
 * waits as long as it takes for its turn. Behind it, each process follows what the service itself says about its limit.
 *
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<RateLimit.Service, never, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const own = yield* RateLimit.make()
    const turn = yield* Effect.makeSemaphore(1)
    const limit = Math.max(1, Math.floor(options.limit))
    const size = Math.min(limit, Math.max(1, Math.floor(options.slice ?? limit / 20)))
    const window = Duration.toMillis(Duration.sum(options.window, margin))
    const taking = SqlRateLimit.taking(sql, {
      table: "bulk_rate",
      key: "token",
      columns: { calls: limit, window_millis: window }
    })
    const take = Effect.map(
      patient("share out the rate limit", taking(options.token, size, window)),
      Option.match({
        onNone: () => ({ calls: 0, millis: window }),
        onSome: ({ endsAt, now, used }) => ({
          calls: Math.max(0, size - Math.max(0, used - limit)),
          millis: Math.max(0, endsAt - now)
        })
      })
    )

    let slice: Slice = { left: 0, until: 0n }

    // What is left of a slice is worthless when its window ends
    const enter: Effect.Effect<void> = Effect.gen(function*() {
      const at = yield* Clock.currentTimeNanos
      if (slice.left > 0 && at < slice.until) {
        slice = { ...slice, left: slice.left - 1 }
        return
      }
      const { calls, millis } = yield* take
      slice = { left: calls, until: at + BigInt(Math.floor(millis * 1e6)) }
      if (calls === 0) yield* Effect.sleep(Duration.millis(Math.ceil(millis) + 10))
      return yield* enter
    })

    return {
      pass: (call, asked) => Effect.zipRight(turn.withPermits(1)(enter), own.pass(call, asked)),
      status: own.status
    }
  })

/**
 * The shared limit for the clients that are built with this layer. It needs the tables: `Bulk.migrate`, or a layer that
 * makes them first.
 *
 * @example
 * import { PgClient } from "@effect/sql-pg"
 * import { BulkRateLimit } from "@stevedore/bulk"
 * import { NodeStevedore } from "@stevedore/node"
 * import { Config, Layer } from "effect"
 *
 * // 200 calls a minute, over all machines with this database
 * const stevedore = NodeStevedore.layerConfig({ ledger: false }).pipe(
 *   Layer.provide(BulkRateLimit.layer({ token: "archive", limit: 200, window: "1 minute" })),
 *   Layer.provide(PgClient.layerConfig({ url: Config.redacted("DATABASE_URL") }))
 * )
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.unwrapEffect(Effect.map(make(options), RateLimit.layer))
