import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SqlFileTable from "../src/SqlFileTable.js"
import { database } from "./support/sqlite.js"

const dialects = {
  mysql: "MySQL",
  mssql: "Microsoft SQL Server",
  clickhouse: "ClickHouse",
  orElse: "of an unknown kind"
}

describe("the table of files in a database", () => {
  it.scopedLive("refuses one whose statements it does not know, by its name", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const [dialect, name] of Object.entries(dialects)) {
        const other = Object.assign(sql.bind({}), sql, {
          onDialectOrElse: (cases: Readonly<Record<string, () => unknown>>) => cases[dialect]?.()
        })
        const error = yield* Effect.flip(
          Effect.provideService(SqlFileTable.migrate, SqlClient.SqlClient, other as SqlClient.SqlClient)
        )
        assert.include(error.message, `The database is ${name}:`)
      }
    }).pipe(Effect.provide(database)))
})
