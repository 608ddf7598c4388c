import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FileTable, KINDS } from "../../src/FileTable.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import { newFile, receiving } from "./fileTableLaws.js"

const run = (statements: ReadonlyArray<string>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  )

/** What an instance of this version and one of the version before or after it do with one database. */
export const laws = <E>(
  name: string,
  database: Layer.Layer<SqlClient.SqlClient, E>
): void => {
  describe(`instances of several versions ${name}`, () => {
    const law = <A, F>(
      what: string,
      body: (table: FileTable["Type"]) => Effect.Effect<A, F, SqlClient.SqlClient>
    ) =>
      it.live(
        what,
        () =>
          Effect.flatMap(Effect.flatMap(FileTable, receiving), body).pipe(
            Effect.provide(SqlFileTable.layer.pipe(Layer.provideMerge(database)))
          ),
        60_000
      )

    const held = (table: FileTable["Type"], id: string, files: number) =>
      table.open(newFile(id, { size: 10 }), { bytes: files * 10, files })

    law(
      "work on tables that a newer one has added to while they ran, and refuse them at a start",
      (table) =>
        Effect.gen(function*() {
          yield* run([
            "alter table stevedore_file add column of_tomorrow text default 'x'",
            "alter table stevedore_event add column of_tomorrow text",
            "alter table stevedore_usage add column of_tomorrow text",
            "insert into stevedore_migrations (migration_id, name) values (1000, 'of_tomorrow')"
          ])
          assert.include((yield* Effect.flip(SqlFileTable.migrate)).message, "written by a newer version")
          assert.isTrue(yield* held(table, "new", 1))
          yield* table.claim("acme", "new", "one", 60_000)
          yield* table.settle("new", "one", { state: "finalized", etag: "e" })
          assert.deepStrictEqual(
            (yield* table.events(60_000, 10, KINDS)).map(({ file, id }) => [id, "ofTomorrow" in file]),
            [
              ["new/completed", false]
            ]
          )
          assert.isTrue(yield* table.discard("acme", "new"))
        })
    )
  })
}
