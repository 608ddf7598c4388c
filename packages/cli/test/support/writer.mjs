// Writes to a file of SQLite for a while, as another command does, in a thread of its own: whoever waits for it may block
import { LibsqlClient } from "@effect/sql-libsql"
import { SqlClient } from "@effect/sql/SqlClient"
import { Effect } from "effect"
import { parentPort, workerData } from "node:worker_threads"

const { millis, url } = workerData

await Effect.gen(function*() {
  const sql = yield* SqlClient
  yield* sql.withTransaction(
    sql`create table if not exists other (id integer)`.pipe(
      Effect.zipRight(Effect.sync(() => parentPort?.postMessage("writes"))),
      Effect.zipRight(Effect.sleep(millis))
    )
  )
}).pipe(Effect.provide(LibsqlClient.layer({ url })), Effect.runPromise)
