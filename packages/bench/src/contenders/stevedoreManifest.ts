/** `<database> <count>`: loads the manifest of a job of so many files, and uploads none of them. Writes the seconds. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Bulk from "@stevedore/bulk/Bulk"
import * as BulkSources from "@stevedore/bulk/BulkSources"
import * as Sqlite from "@stevedore/server/Sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

const [url = "", count = "1"] = process.argv.slice(2)

const before = performance.now()

const database = url.startsWith("file:")
  ? Sqlite.layer({ file: url.slice(5) })
  : PgClient.layer({ url: Redacted.make(url) })

const manifest = BulkSources.files(
  "/nowhere",
  Stream.map(Stream.range(1, Number(count)), (number) => ({ path: `2026/interviews/${number}.jpg`, size: 2048 }))
)

await Effect.runPromise(Effect.provide(Bulk.submit("listed", manifest), Layer.provide(Bulk.layerClient, database)))
process.stdout.write(String((performance.now() - before) / 1000))
