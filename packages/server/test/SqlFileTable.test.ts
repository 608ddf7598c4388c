import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient, SqlError as SqlErrors } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import * as FileTable from "../src/FileTable.js"
import * as SqlDatabase from "../src/SqlDatabase.js"
import * as SqlFileTable from "../src/SqlFileTable.js"
import * as Sqlite from "../src/Sqlite.js"
import { newFile } from "./support/fileTableLaws.js"
import { database } from "./support/sqlite.js"

describe("the table of files in a database", () => {
  it.scopedLive("refuses one whose statements it does not know", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const other = Object.assign(sql.bind({}), sql, {
        onDialectOrElse: (cases: Readonly<Record<string, () => unknown>>) => cases["orElse"]?.()
      })
      const error = yield* Effect.flip(
        Effect.provideService(SqlFileTable.migrate, SqlClient.SqlClient, other as SqlClient.SqlClient)
      )
      assert.include(error.message, "only PostgreSQL and SQLite")
    }).pipe(Effect.provide(database)))

  it.scopedLive("waits for the disk before a change is told, and for no lease, event or sight", () =>
    Effect.gen(function*() {
      let waits = 0
      const lasting = Effect.sync(() => void waits++)
      const table = yield* Effect.provideService(SqlFileTable.make, SqlDatabase.Lasting, lasting)
      yield* SqlFileTable.migrate
      const calls: ReadonlyArray<readonly [string, Effect.Effect<unknown, FileTable.TableFailed>, number]> = [
        ["open", table.open(newFile("a", { kind: "multipart", state: "opening" })), 1],
        ["opened", table.opened("a", "upload"), 1],
        ["find", table.find("acme", "a"), 0],
        ["claim", table.claim("acme", "a", "ann", 60_000), 0],
        ["renew", table.renew("a", "ann", 60_000), 0],
        ["release", table.release("a", "ann"), 0],
        ["claim", table.claim("acme", "a", "ann", 60_000), 0],
        ["settle", table.settle("a", "ann", { state: "finalized", etag: "e" }), 1],
        ["discard", table.discard("acme", "a"), 1],
        ["due", table.due("eve", 60_000, 1), 0],
        ["removed", table.removed("a", "eve"), 1],
        ["events", table.events(60_000, 10, FileTable.KINDS), 0],
        ["delivered", table.delivered("a/completed", "a/removed"), 0]
      ]
      for (const [name, call, expected] of calls) {
        waits = 0
        yield* call
        assert.strictEqual(waits, expected, name)
      }
      assert.strictEqual((yield* Effect.flatten(table.find("acme", "a"))).state, "removed")
      const unwritten = Effect.fail(new SqlErrors.SqlError({ cause: "EIO", message: "The disk is gone" }))
      const broken = yield* Effect.provideService(SqlFileTable.make, SqlDatabase.Lasting, unwritten)
      assert.strictEqual((yield* Effect.flip(broken.open(newFile("b"))))._tag, "TableFailed")
    }).pipe(Effect.provide(database)))

  it.scopedLive("says what it could not do, where a statement fails", () =>
    Effect.gen(function*() {
      // nobody has made its tables
      const table = yield* SqlFileTable.make
      const page = { limit: 1, direction: "asc", after: undefined } as const
      const calls: {
        readonly [Name in keyof FileTable.FileTableService]: Effect.Effect<unknown, FileTable.TableFailed>
      } = {
        open: table.open(newFile("a")),
        opened: table.opened("a", "upload"),
        find: table.find("acme", "a"),
        claim: table.claim("acme", "a", "ann", 1),
        renew: table.renew("a", "ann", 1),
        release: table.release("a", "ann"),
        settle: table.settle("a", "ann", { state: "finalized", etag: "e" }),
        due: table.due("ann", 1, 1),
        removed: table.removed("a", "ann"),
        discard: table.discard("acme", "a"),
        page: table.page("acme", page),
        tenants: table.tenants,
        measures: table.measures,
        count: table.count("acme"),
        ages: table.ages,
        events: table.events(1, 1, FileTable.KINDS),
        delivered: table.delivered("a/completed")
      }
      const said = yield* Effect.forEach(Object.values(calls), (call) =>
        Effect.map(Effect.flip(call), ({ message, operation }) => {
          assert.include(message, `cannot ${operation} (SQLITE_ERROR)`)
          assert.match(operation, /^[a-z]+ .+/)
          return operation
        }))
      assert.lengthOf(said, new Set(said).size)
    }).pipe(Effect.provide(database)))

  it.scopedLive("writes its log once for all that wait, and begins again for who comes later", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/files.db`
      const begun = yield* Deferred.make<void>()
      const disk = yield* Effect.makeLatch()
      let writes = 0
      const write = Effect.suspend(() => {
        writes++
        return Effect.zipRight(Deferred.succeed(begun, undefined), disk.await)
      })
      const watched = Layer.succeed(FileSystem.FileSystem, {
        ...fs,
        open: (...asked) =>
          Effect.map(fs.open(...asked), (handle) =>
            new Proxy(handle, {
              get: (target, name) =>
                name === "sync" ? Effect.zipRight(write, target.sync) : Reflect.get(target, name, target)
            }))
      })
      const context = yield* Layer.build(Layer.provide(Sqlite.layerLasting(file), watched))
      const lasting = yield* Effect.provide(SqlDatabase.Lasting, context)
      // with its last connection, SQLite has put all of it into the database
      yield* lasting
      yield* fs.writeFileString(`${file}-wal`, "log")
      const first = yield* Effect.fork(lasting)
      yield* Deferred.await(begun)
      const later = yield* Effect.fork(
        Effect.all(Array.from({ length: 20 }, () => lasting), { concurrency: "unbounded" })
      )
      yield* Effect.yieldNow()
      assert.isTrue(Option.isNone(yield* Fiber.poll(first)))
      yield* disk.open
      yield* Fiber.join(first)
      yield* Fiber.join(later)
      assert.strictEqual(writes, 2)
    }).pipe(Effect.provide(NodeContext.layer)))
})
