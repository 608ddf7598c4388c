/**
 * A limit for each tenant that all instances share: it is counted in their database, by one statement for each request.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RateWindow from "../base/rateWindow.js"
import { RateLimit } from "../RateLimit.js"
import * as SqlDatabase from "../SqlDatabase.js"

/**
 * A table of windows, one row a key. `columns` are others that each call sets.
 *
 * @category models
 */
export interface Windows {
  readonly table: string
  readonly key: string
  readonly columns?: Readonly<Record<string, number>> | undefined
}

/**
 * How many calls were taken in a window, with those that were just taken. Times are those of the database, in milliseconds.
 *
 * @category models
 */
export interface Taken {
  readonly used: number
  readonly endsAt: number
  readonly now: number
}

/**
 * Takes calls of the window of a key, by one statement: exactly, however many processes do so at once. A window begins with the
 * first call after the one before has ended, by the clock of the database.
 *
 * @category constructors
 */
export const taking = (client: SqlClient.SqlClient, { columns = {}, key: keyName, table }: Windows) => {
  const sql = client.withoutTransforms()
  const now = SqlDatabase.now(sql)
  const others = Object.keys(columns)
  const names = sql.literal([keyName, "ends_at", "used", ...others].join(", "))
  const over = sql`rate.ends_at <= ${now}`
  const replaced = sql.literal(others.map((name) => `, ${name} = excluded.${name}`).join(""))
  return (key: string, calls: number, windowMillis: number): Effect.Effect<Option.Option<Taken>, SqlError> => {
    const values = sql.csv([
      sql`${key}`,
      sql`${now} + ${SqlDatabase.float(sql, windowMillis)}`,
      sql`${calls}`,
      ...others.map((name) => sql`${columns[name] ?? 0}`)
    ])
    return Effect.map(
      sql<{ readonly ends_at: number; readonly used: number; readonly now: number }>`
        insert into ${sql.literal(table)} as rate (${names}) values (${values})
        on conflict (${sql.literal(keyName)}) do update set
          used = case when ${over} then excluded.used else rate.used + excluded.used end,
          ends_at = case when ${over} then excluded.ends_at else rate.ends_at end${replaced}
        returning ends_at, used, ${now} as now`,
      ([row]) => Option.map(Option.fromNullable(row), ({ ends_at, now, used }) => ({ used, endsAt: ends_at, now }))
    )
  }
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
}): Layer.Layer<never, never, SqlClient.SqlClient> =>
  Layer.effect(
    RateLimit,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const take = taking(sql, { table: "stevedore_rate", key: "tenant" })
      const windowMillis = Duration.toMillis(options.window)
      return (tenant) =>
        Effect.map(
          take(tenant, 1, windowMillis),
          Option.map((taken) => RateWindow.admission({ limit: options.limit, ...taken }))
        ).pipe(
          Effect.catchAllCause((cause) =>
            Effect.as(Effect.logWarning("A request could not be counted", cause), Option.none())
          )
        )
    })
  )
