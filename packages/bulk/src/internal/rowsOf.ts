import type * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"

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
