import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { Context, Effect, Exit, FastCheck as fc, Layer, Stream } from "effect"
import { errorCode } from "../../src/base/errorCode.js"
import { FileTable, KINDS } from "../../src/FileTable.js"
import { ObjectStore } from "../../src/ObjectStore.js"
import * as SqlRateLimit from "../../src/parts/sqlRateLimit.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import * as Sqlite from "../../src/Sqlite.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import * as SqlTokens from "../../src/SqlTokens.js"
import * as Tokens from "../../src/Tokens.js"
import { newFile, receiving } from "../support/fileTableLaws.js"
import { locking } from "../support/locked.js"

const within = <A, E>(
  run: (folder: string) => Effect.Effect<A, E, FileSystem.FileSystem | NodeContext.NodeContext | Scope.Scope>
) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "stevedore-sqlite-" })).pipe(
    Effect.flatMap(run),
    Effect.scoped,
    Effect.provide(NodeContext.layer)
  )

const client = (options: Sqlite.Options) =>
  Effect.map(Layer.build(Sqlite.layer(options)), Context.get(SqlClient.SqlClient))

/** What a connection sees of all tables. */
const contentOf = (sql: SqlClient.SqlClient) =>
  Effect.gen(function*() {
    const tables = yield* sql<{ name: string }>`select name from sqlite_master where type = 'table' order by name`
    return yield* Effect.forEach(tables, ({ name }) => sql.unsafe(`select '${name}' as of_table, * from ${name}`))
  })

const step = fc.record({
  alone: fc.boolean(),
  fails: fc.boolean(),
  full: fc.boolean(),
  waits: fc.integer({ min: 0, max: 3 })
})

type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

describe("a file of SQLite", () => {
  it.live(
    "that another program locks for longer than is waited: what is refused can be done again, and what is answered is there",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const file = `${folder}/files.db`
          const context = yield* Layer.build(
            Layer.mergeAll(
              SqlTokens.layer,
              SqlObjectStore.layer({ directory: `${folder}/store`, minimumPartSize: 1 })
            ).pipe(
              Layer.provideMerge(SqlFileTable.layer),
              Layer.provideMerge(Sqlite.layer({ file, wait: "30 millis" }))
            )
          )
          const sql = Context.get(context, SqlClient.SqlClient)
          const other = yield* client({ file })
          const table = yield* receiving(Context.get(context, FileTable))
          const store = Context.get(context, ObjectStore)
          const tokens = Context.get(context, Tokens.Tokens)
          const rate = SqlRateLimit.taking(sql, { table: "stevedore_rate", key: "tenant" })
          const owner = { id: "ann", name: "Ann" }
          const body = Stream.make(new Uint8Array(3))
          const calls: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]> = [
            ["upload", table.open(newFile("a", { size: 10, kind: "multipart", state: "opening" }), { bytes: 100 })],
            ["upload opened", table.opened("a", "upload")],
            ["store's upload", store.createUpload("files/acme/a")],
            ["bytes", store.put("files/acme/b", body)],
            ["lease", table.claim("acme", "a", "ann", 60_000)],
            ["lease longer", table.renew("a", "ann", 60_000)],
            ["lease ended", table.release("a", "ann")],
            ["lease again", table.claim("acme", "a", "ann", 60_000)],
            ["complete", table.settle("a", "ann", { state: "finalized", etag: "e" })],
            ["outbox", table.events(60_000, 10, KINDS)],
            ["outbox told", table.delivered("a/completed")],
            ["retention", table.discard("acme", "a")],
            ["sweep", table.due("eve", 60_000, 10)],
            ["removal", table.removed("a", "eve")],
            ["bytes removed", store.remove("files/acme/b")],
            [
              "token",
              tokens.add("hash", {
                createdAt: 1,
                expiresAt: undefined,
                id: "t",
                owner,
                scopes: ["read"],
                tenant: "acme"
              })
            ],
            ["token revoked", tokens.revoke("t")],
            ["rate", rate("acme", 1, 60_000)],
            ["transaction", sql.withTransaction(sql`update stevedore_rate set used = used + 1`)]
          ]
          const { held, letGo } = yield* locking(file)
          for (const [name, call] of calls) {
            const before = yield* contentOf(other)
            yield* held
            const refused = yield* Effect.flip(call)
            assert.match(`${errorCode(refused)} ${refused}`, /SQLITE_BUSY|SlowDown/, name)
            yield* letGo
            assert.deepStrictEqual(yield* contentOf(other), before, name)
            const answer = yield* call
            assert.notStrictEqual(answer, false, name)
            const after = yield* contentOf(other)
            assert.notDeepEqual(after, before, name)
            assert.deepStrictEqual(after, yield* contentOf(sql), name)
          }
        })
      ),
    60_000
  )

  it.live("answers others while it waits for a lock, and has it once it is free", () =>
    within((folder) =>
      Effect.gen(function*() {
        const file = `${folder}/one.db`
        const sql = yield* client({ file })
        yield* sql`pragma journal_mode = wal`
        yield* sql`create table one (n integer)`
        const { held, letGo } = yield* locking(file)
        yield* held
        const [, seen] = yield* Effect.all([
          sql`insert into one values (1)`,
          Effect.zipLeft(Effect.delay(sql`select * from one`, 100), letGo)
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(seen, [])
        assert.deepStrictEqual(yield* sql`select * from one`, [{ n: 1 }])
      })
    ))

  it.live("has what was answered and nothing else, however statements and transactions meet", () =>
    within((folder) => {
      let round = 0
      return Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), (steps) =>
            Effect.runPromise(Effect.scoped(Effect.gen(function*() {
              const file = `${folder}/${round++}.db`
              const sql = yield* client({ file })
              yield* sql`pragma journal_mode = wal`
              yield* sql`create table one (n integer, filler text)`
              yield* sql`pragma max_page_count = 40`
              const large = "x".repeat(200_000)
              const answer = ({ alone, fails, full, waits }: Step, n: number) => {
                const row = (filler: string) => sql`insert into one values (${n}, ${filler})`
                const first = row(full ? large : "")
                return Effect.exit(
                  alone ? first : sql.withTransaction(Effect.gen(function*() {
                    yield* first
                    yield* Effect.repeatN(Effect.yieldNow(), waits)
                    // where somebody goes on after what has no room
                    yield* Effect.ignore(row(fails ? large : ""))
                    yield* row("")
                    if (fails) return yield* Effect.fail("changed its mind")
                  }))
                )
              }
              const answered = yield* Effect.forEach(steps, answer, { concurrency: "unbounded" })
              const other = yield* client({ file })
              const found = yield* other<{ n: number; rows: number }>`select n, count(*) as rows from one group by n`
              assert.deepStrictEqual(
                found.map(({ n }) => n),
                answered.flatMap((exit, n) => Exit.isSuccess(exit) ? [n] : [])
              )
              assert.deepStrictEqual(yield* contentOf(sql), yield* contentOf(other))
            })))),
          { numRuns: 30 }
        )
      )
    }), 60_000)

  it.live("refuses a transaction that is begun by hand, since others would be in it", () =>
    within((folder) =>
      Effect.gen(function*() {
        const sql = yield* client({ file: `${folder}/one.db` })
        yield* sql`create table one (n integer)`
        assert.include((yield* Effect.flip(sql`begin`)).message, "withTransaction")
        yield* sql`insert into one values (1)`
        assert.deepStrictEqual(yield* sql`select n, ${true} as yes, ${null} as none from one`, [{
          n: 1,
          yes: 1,
          none: null
        }])
        assert.deepStrictEqual(yield* sql`select n, n from one`.values, [[1, 1]])
      })
    ))

  it.live("is made where it can be, and says so where it cannot", () =>
    within((folder) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(client({ file: `${folder}/nowhere/one.db` }))
        assert.include(error.message, "nowhere")
        yield* client({ file: `${folder}/a?b#c%20.db` })
        assert.isTrue(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.exists(`${folder}/a?b#c%20.db`)))
      })
    ))

  it.live("is held by one at a time", () =>
    within((folder) =>
      Effect.gen(function*() {
        const hold = Sqlite.hold(`${folder}/lock.db`)
        yield* Effect.scoped(Effect.gen(function*() {
          yield* hold
          assert.strictEqual(errorCode(yield* Effect.flip(hold)), "SQLITE_BUSY")
        }))
        yield* hold
      })
    ))
})
