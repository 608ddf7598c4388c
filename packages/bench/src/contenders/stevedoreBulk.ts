/**
 * `<database> <base URL> <folder> <files at once> <job> [name]`: a runner until the job of the folder's files is done, in
 * PostgreSQL, or in SQLite if the database is a `file:`. Writes the seconds.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Bulk from "@stevedore/bulk/Bulk"
import * as BulkSources from "@stevedore/bulk/BulkSources"
import * as BulkQueue from "@stevedore/bulk/Queue"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Sqlite from "@stevedore/server/Sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const [url = "", baseUrl, folder = "", files = "16", name = "", runner] = process.argv.slice(2)

const before = performance.now()

const database = url.startsWith("file:")
  ? Sqlite.layer({ file: url.slice(5) })
  : PgClient.layer({ url: Redacted.make(url) })

const Live = BulkQueue.layer({ files: Number(files), name: runner }).pipe(
  Layer.provide(BulkSources.layerDirectory),
  Layer.provide(NodeStevedore.layer({ baseUrl, token: Redacted.make("api.loopback"), ledger: false })),
  Layer.provide(database)
)

const { failed } = await Bulk.submit(name, BulkSources.directory(folder)).pipe(
  Effect.flatMap((job) => job.await),
  Effect.provide(Live),
  Effect.runPromise
)
process.stdout.write(String((performance.now() - before) / 1000), () => process.exit(failed === 0 ? 0 : 1))
