import { SqlClient } from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Bulk } from "@stevedore/bulk"
import { Sandbox } from "@stevedore/testing"
import { Effect } from "effect"
import { lived, proven } from "../support/histories.js"
import type { Job } from "../support/histories.js"
import { database, Life, sources, sql } from "../support/lives.js"
import { service } from "../support/service.js"

const job: Job = { name: "job", files: sources(4), chunkSize: 2 }

const tables = ["bulk_job", "bulk_chunk", "bulk_file", "bulk_ledger", "bulk_receipt"]

const statements = (client: SqlClient, texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) => client.unsafe(text), { discard: true })

/** A process that ends when the record of a file is there, and its Complete is not sent. */
const first = (client: SqlClient) => lived(client, job, { way: "parts", life: new Life("Complete") })

describe("a rolling deploy", () => {
  it.live("of a later version, whose tables and records have more, lets runners of this one go on, and none start", () =>
    Effect.gen(function*() {
      const client = yield* database
      yield* first(client)
      yield* statements(client, [
        ...tables.map((table) => `alter table ${table} add column later text default 'kept'`),
        // what a later version writes into a record, and this one does not know
        "update bulk_ledger set record = json_set(record, '$.later', json('{\"a\":1}'), '$.session.later', true)"
      ])
      const records = Effect.flatMap(SqlClient, (sql) => sql<{ record: string }>`select record from bulk_ledger`)
      const found = yield* Effect.provide(records, sql(client))
      assert.isAbove(found.length, 0)
      assert.isTrue(found.every(({ record }) => record.includes("later")))
      const kept = Effect.flatMap(
        SqlClient,
        (sql) =>
          sql<{ later: string }>`select later from bulk_file union all select later from bulk_chunk
            union all select later from bulk_job`
      )
      yield* lived(client, job, { way: "parts", life: new Life() })
      assert.isTrue((yield* Effect.provide(kept, sql(client))).every(({ later }) => later === "kept"))
      yield* statements(client, ["insert into bulk_migrations (migration_id, name) values (9999, 'later')"])
      const refused = yield* Effect.flip(Effect.provide(Bulk.migrate, sql(client)))
      assert.include(refused.message, "written by a newer version")
      yield* statements(client, ["delete from bulk_migrations where migration_id = 9999"])
      yield* proven(client, job, false)
      // the sessions that were there went on
      const { requests } = yield* Sandbox.report
      assert.strictEqual(
        requests.filter(({ operation }) => operation === "initiateLarge").length,
        job.files.length
      )
    }).pipe(Effect.scoped, Effect.provide(service())))
})
