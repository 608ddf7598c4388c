/**
 * A limit for each tenant that all instances share: it is counted in their database, by one statement for each request.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RateLimit } from "./RateLimit.js"
import * as RateWindow from "./RateWindow.js"

interface Row {
  readonly ends_at: number
  readonly used: number
  readonly now: number
}

/**
 * At most `limit` requests of a tenant in each window, exactly, however many instances there are. A window begins with the
 * first request after the one before has ended, by the clock of the database. `SqlFileTable.layer` makes the table. A request
 * that cannot be counted, since the database does not answer, is admitted: what it needs of the database says so itself.
 *
 * @category layers
 */
export const layer = (options: {
  readonly limit: number
  readonly window: Duration.DurationInput
}): Layer.Layer<RateLimit, never, SqlClient.SqlClient> =>
  Layer.effect(
    RateLimit,
    Effect.map(SqlClient.SqlClient, (client) => {
      const sql = client.withoutTransforms()
      const windowMillis = Duration.toMillis(options.window)
      const now = sql.onDialectOrElse({
        pg: () => sql.literal("(extract(epoch from clock_timestamp()) * 1000)::float8"),
        orElse: () => sql.literal("(unixepoch('subsec') * 1000.0)")
      })
      const length = sql.literal(String(windowMillis))
      return (tenant) =>
        sql<Row>`insert into stevedore_rate as rate (tenant, ends_at, used) values (${tenant}, ${now} + ${length}, 1)
          on conflict (tenant) do update set
            used = case when rate.ends_at <= ${now} then 1 else rate.used + 1 end,
            ends_at = case when rate.ends_at <= ${now} then ${now} + ${length} else rate.ends_at end
          returning ends_at, used, ${now} as now`.pipe(
          Effect.map(([row]) =>
            Option.map(Option.fromNullable(row), ({ ends_at, now, used }) =>
              RateWindow.admission({ limit: options.limit, used, endsAt: ends_at, now }))
          ),
          Effect.catchAllCause((cause) =>
            Effect.as(Effect.logWarning("A request could not be counted", cause), Option.none())
          )
        )
    })
  )
