import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { LibsqlClient } from "@effect/sql-libsql"
import { SqlClient } from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import { Bulk } from "@stevedore/bulk"
import * as SqlFileTable from "@stevedore/server/SqlFileTable"
import { Effect } from "effect"
import { once } from "node:events"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"

/** Another command that writes for so long, from now on. */
const writing = (url: string, millis: number) =>
  Effect.tap(
    Effect.acquireRelease(
      Effect.sync(() =>
        new Worker(new URL("../../support/writer.mjs", import.meta.url), { workerData: { millis, url } })
      ),
      (worker) => Effect.promise(() => worker.terminate())
    ),
    (worker) => Effect.promise(() => once(worker, "message"))
  )

const migrations = [["bulk", Bulk.migrate], ["the server", SqlFileTable.migrate]] as const

for (const [name, migrate] of migrations) {
  it.scopedLive(`the tables of ${name} are made, and looked for again, while another command writes to the file`, () =>
    Effect.gen(function*() {
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const url = pathToFileURL(`${folder}/jobs.db`).href
      for (const _ of ["made", "looked for"]) {
        yield* writing(url, 300)
        const tables = Effect.gen(function*() {
          const sql = yield* SqlClient
          yield* migrate
          return yield* sql`select name from sqlite_master where type = 'table'`
        }).pipe(Effect.provide(LibsqlClient.layer({ url })))
        assert.isAbove((yield* tables).length, 5)
      }
    }).pipe(Effect.provide(NodeContext.layer)))
}
