import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import { Bulk } from "@stevedore/bulk"
import * as SqlFileTable from "@stevedore/server/SqlFileTable"
import * as Sqlite from "@stevedore/server/Sqlite"
import { Effect } from "effect"
import { locking } from "../../../../server/test/support/locked.js"

const migrations = [["bulk", Bulk.migrate], ["the server", SqlFileTable.migrate]] as const

for (const [name, migrate] of migrations) {
  it.scopedLive(`the tables of ${name} are made, and looked for again, while another command writes to the file`, () =>
    Effect.gen(function*() {
      const file = `${yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())}/jobs.db`
      const { held, letGo } = yield* locking(file)
      for (const _ of ["made", "looked for"]) {
        yield* held
        const tables = Effect.gen(function*() {
          yield* migrate
          // as another program sees it
          return yield* Effect.provide(
            Effect.flatMap(SqlClient, (sql) => sql`select name from sqlite_master where type = 'table'`),
            Sqlite.layer({ file })
          )
        }).pipe(Effect.provide(Sqlite.layer({ file })))
        const [found] = yield* Effect.all([tables, Effect.delay(letGo, 300)], { concurrency: "unbounded" })
        assert.isAbove(found.length, 5)
      }
    }).pipe(Effect.provide(NodeContext.layer)))
}
