import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schedule } from "effect"
import * as FileStore from "../../src/FileStore.js"
import * as Hooks from "../../src/Hooks.js"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as BlobStore from "../../src/parts/blobStore.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import * as Sweeper from "../../src/Sweeper.js"
import * as Uploads from "../../src/Uploads.js"
import { database } from "../support/sqlite.js"

/** So many files that are final since 1970, with two events each. */
const stored = (count: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.zipRight(
      sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
        insert into stevedore_file (id, tenant, owner_id, owner_name, name, size, kind, key, state, created_at, expires_at,
          settled_at)
        select 'file-' || i, 'acme', 'ann', 'Ann', 'n', 3, 'single', 'files/acme/' || i, 'finalized', i, i, i from n`,
      sql`insert into stevedore_event (id, file_id, kind, attempts, due_at)
        select stevedore_file.id || '/' || of.kind, stevedore_file.id, of.kind, 0, 1
        from stevedore_file cross join (select 'completed' as kind union select 'failed') as of`
    ))

const counted = (what: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql.unsafe<{ count: number }>(`select count(*) as count from ${what}`),
      ([row]) => Number(row?.count)
    ))

const none = (what: string) =>
  Effect.repeat(counted(what), { schedule: Schedule.spaced("100 millis"), until: (count) => count === 0 })

describe("what follows an upload", () => {
  it.scopedLive(
    "keeps up: 3,000 events and 1,000 files that are old are no work for a minute",
    () =>
      Effect.gen(function*() {
        yield* SqlFileTable.migrate
        yield* stored(1000)
        const told = new Map<string, number>()
        const tell: Hooks.HooksService["onCompleted"] = ({ id }) =>
          Effect.sync(() => void told.set(id, (told.get(id) ?? 0) + 1))
        const store = FileStore.signed(ObjectStore.make(BlobStore.memory), {
          credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("very-secret"), region: "us-east-1" },
          origin: "http://storage.test",
          bucket: "files"
        })
        yield* Layer.build(
          Sweeper.layer({ keep: () => "1 hour", keepShare: 1 }).pipe(
            Layer.provideMerge(Uploads.layer()),
            Layer.provideMerge(Layer.effect(FileStore.FileStore, Effect.succeed(store))),
            Layer.provideMerge(SqlFileTable.layer)
          )
        ).pipe(
          Effect.provideService(Hooks.Hooks, { ...Hooks.none, onCompleted: tell, onRemoved: tell, onFailed: tell })
        )
        yield* Effect.timeoutFail(
          Effect.all([none("stevedore_file where state <> 'removed'"), none("stevedore_event")]),
          { duration: "1 minute", onTimeout: () => "a minute" }
        )
        assert.strictEqual(told.size, 3000)
        assert.isTrue([...told.values()].every((times) => times === 1))
      }).pipe(Effect.provide(database)),
    120_000
  )
})
