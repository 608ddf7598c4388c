/** How statements are run: their rows, and patience with a database that is busy. */
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** A list of objects as rows: `columns` are the names and the types of PostgreSQL. One parameter, however many rows. */
export const rowsOf = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<unknown>,
  columns: Readonly<Record<string, "integer" | "text" | "float8">>
): Fragment => {
  const json = JSON.stringify(rows)
  const names = Object.keys(columns)
  const types = names.map((name) => `${name} ${columns[name]}`).join(", ")
  const fields = names.map((name) => `value->>'${name}' as ${name}`).join(", ")
  return sql.onDialectOrElse({
    pg: () => sql`json_to_recordset(${json}::json) as x(${sql.literal(types)})`,
    orElse: () => sql`(select ${sql.literal(fields)} from json_each(${json})) as x`
  })
}

/** A short statement, whose connection is given up if it has gone without a word for fifteen seconds. */
export const answered = <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
  Effect.timeoutFail(statement, {
    duration: "15 seconds",
    onTimeout: () => new SqlError({ message: "The database has not answered for 15 seconds" })
  })

/**
 * A statement that may be repeated, until the database answers. What is behind it is told once an outage, not once a
 * try.
 */
export const patient = <A, R>(
  what: string,
  statement: Effect.Effect<A, SqlError, R>
): Effect.Effect<A, never, R> =>
  Effect.suspend(() => {
    let told = false
    return answered(statement).pipe(
      Effect.tapError((error) =>
        Effect.suspend(() => {
          if (told) return Effect.void
          told = true
          return Effect.logWarning(`The database does not ${what}: trying again until it does`, error)
        })
      ),
      Effect.retry(Schedule.spaced("500 millis")),
      // nothing is left to fail with: it is repeated for ever
      Effect.catchAll(() => Effect.never),
      Effect.tap(() => told ? Effect.logInfo(`The database does ${what} again`) : Effect.void)
    )
  })

/** What a process gives back when it is stopped, if the database answers within a second. */
export const givenBack = <A, R>(statement: Effect.Effect<A, SqlError, R>): Effect.Effect<void, never, R> =>
  Effect.ignore(Effect.timeout(Effect.disconnect(Effect.interruptible(statement)), "1 second"))

/** Where `@effect/sql` keeps the queue of chunks. */
export const queueTable = "bulk_queue"

/** The name of the queue of a job: each has its own, so that none waits behind the chunks of another. */
export const queueOf = (job: number): string => `${job}`

/** The queue of the jobs that are pinned to a machine. */
export const hostQueue = (host: string): string => `host:${host}`
