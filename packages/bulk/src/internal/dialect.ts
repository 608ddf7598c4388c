import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"

/** Whether statements can change several tables at once, and rows have locks. Anything else is SQLite. */
export const isPostgres = (sql: SqlClient.SqlClient): boolean =>
  sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/** The database's clock, in milliseconds since 1970: the only clock that any row has. */
export const now = (sql: SqlClient.SqlClient): Fragment =>
  sql.onDialectOrElse({
    pg: () => sql.literal("(extract(epoch from clock_timestamp()) * 1000)::float8"),
    orElse: () => sql.literal("(unixepoch('subsec') * 1000.0)")
  })

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
