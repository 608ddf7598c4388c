/**
 * What everything agrees on that keeps rows in PostgreSQL, for any number of processes, or in SQLite, for one: which of the two
 * it is, its clock, and how tables are made.
 *
 * It needs `@effect/sql` and `@effect/experimental`. It is therefore not in the package's index: import it from `@stevedore/server/SqlDatabase`.
 */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { errorCode } from "./base/errorCode.js"
import { isFull } from "./storage/disk.js"

/**
 * Whether statements can change several tables at once, and rows have locks. Anything else is SQLite.
 *
 * @category predicates
 */
export const isPostgres = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/**
 * The database's clock, in milliseconds since 1970: the only clock that any row has.
 *
 * @category constructors
 */
export const now = (sql: SqlClient.SqlClient): Fragment =>
  sql.literal(
    isPostgres(sql) ? "(extract(epoch from clock_timestamp()) * 1000)::float8" : "(unixepoch('subsec') * 1000.0)"
  )

/**
 * A number as a parameter. PostgreSQL is told its type, which it would take for an integer in some places.
 *
 * @category constructors
 */
export const float = (sql: SqlClient.SqlClient, value: number): Fragment =>
  isPostgres(sql) ? sql`${value}::float8` : sql`${value}`

/**
 * What a change waits for, after its statement, before anybody is told of it: that it outlives the machine. Nothing, unless it is
 * provided: a database does so itself, unless its connection says `synchronous = normal`.
 *
 * @category references
 */
export class Lasting extends Context.Reference<Lasting>()("@stevedore/server/SqlDatabase/Lasting", {
  defaultValue: (): Effect.Effect<void, SqlError> => Effect.void
}) {}

/**
 * What gives up the room that is kept for removals, and answers whether there was any. None, unless it is provided.
 *
 * @category references
 */
export class Reserve extends Context.Reference<Reserve>()("@stevedore/server/SqlDatabase/Reserve", {
  defaultValue: () => Effect.succeed(false)
}) {}

/**
 * A change after which there is more room: it is made with what is kept for it, where there is none.
 *
 * @category combinators
 */
export const freeing =
  (reserve: Effect.Effect<boolean>) => <A, R>(change: Effect.Effect<A, SqlError, R>): Effect.Effect<A, SqlError, R> =>
    Effect.catchIf(
      change,
      isFull,
      (error) => Effect.flatMap(reserve, (isThere) => isThere ? change : Effect.fail(error))
    )

// its statements would be those of SQLite
const unknownDialect = new Migrator.MigrationError({
  reason: "failed",
  message: "only PostgreSQL and SQLite can be used"
})

const noRows = Effect.succeed([])

const writtenByNewer = new Migrator.MigrationError({
  reason: "bad-state",
  message: "its tables were written by a newer version of Stevedore: use that one"
})

/**
 * Makes the tables that are missing, and does nothing if none is; `table` has what was done before. Safe to run by several
 * processes at once. Fails where the database is neither PostgreSQL nor SQLite, and, without changing anything, where a newer
 * version has written its tables.
 *
 * @category migrations
 */
export const migrate = (options: {
  readonly table: string
  readonly migrations: Readonly<Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>>>
}): Effect.Effect<void, Migrator.MigrationError | SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const migrating = Migrator.make({})({
      table: options.table,
      loader: Migrator.fromRecord(options.migrations)
    })
    const refusingNewer = sql`select 1 from ${sql(options.table)}
      where migration_id > ${float(sql, Object.keys(options.migrations).length)}`.pipe(
      Effect.catchIf((error) => /42P01|no such table/.test(`${errorCode(error)} ${error.message}`), () => noRows),
      Effect.filterOrFail((newer) => newer.length === 0, () => writtenByNewer)
    )
    return Effect.asVoid(sql.onDialectOrElse({
      // of several that begin at once on an empty database, one makes the tables, and the others find them
      pg: () =>
        Effect.zipRight(refusingNewer, Effect.retry(migrating, { schedule: Schedule.spaced("200 millis"), times: 5 })),
      // one write to the disk for a statement instead of several, which the file remembers
      sqlite: () =>
        refusingNewer.pipe(Effect.zipRight(sql.unsafe("pragma journal_mode = wal")), Effect.zipRight(migrating)),
      orElse: () => unknownDialect
    }))
  })

/**
 * Runs statements one after the other, as a migration.
 *
 * @category migrations
 */
export const run = (
  statements: (sql: SqlClient.SqlClient) => ReadonlyArray<string>
): Effect.Effect<void, SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.forEach(statements(sql), (statement) => sql.unsafe(statement), { discard: true })
  )
