import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Stream } from "effect"
import * as FileAudit from "../src/FileAudit.js"
import { FileTable } from "../src/FileTable.js"
import * as ObjectStore from "../src/ObjectStore.js"
import * as SqlFileTable from "../src/SqlFileTable.js"
import * as SqlObjectStore from "../src/SqlObjectStore.js"
import { newFile } from "./support/fileTableLaws.js"
import { databaseIn } from "./support/sqlite.js"

describe("rows and store of a service", () => {
  it.scopedLive("are compared both ways, and nothing is mended but what is counted", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const context = yield* Layer.build(FileAudit.layer.pipe(
        Layer.provideMerge(SqlObjectStore.layer({ directory })),
        Layer.provideMerge(SqlFileTable.layer),
        Layer.provideMerge(databaseIn(`${directory}/files.db`))
      ))
      yield* Effect.gen(function*() {
        const table = yield* FileTable
        const store = yield* ObjectStore.ObjectStore
        const sql = yield* SqlClient.SqlClient
        const { verify } = yield* FileAudit.FileAudit
        const wrong = (repair = false) =>
          Effect.map(Stream.runCollect(verify({ repair })), (found) =>
            Chunk.toReadonlyArray(found).map(({ repaired, subject, what }) =>
              `${what} ${subject}${repaired ? " repaired" : ""}`
            ).sort())
        const key = (id: string) =>
          `files/acme/${id}`
        const uploaded = (id: string) =>
          Effect.gen(function*() {
            yield* table.open(newFile(id, { size: 5, key: key(id) }))
            const { etag } = yield* store.put(key(id), new TextEncoder().encode("hello"))
            yield* table.claim("acme", id, "me", 60_000)
            yield* table.settle(id, "me", { state: "finalized", etag })
          })
        const ids = ["whole", "missing", "torn", "longer", "replaced"]
        yield* Effect.forEach(ids, uploaded)
        yield* table.open(newFile("open", { size: 5, key: key("open") }))
        yield* store.put(key("open"), new TextEncoder().encode("hello"))
        assert.deepStrictEqual(yield* wrong(), [])

        yield* store.remove(key("missing"))
        const [blob] = yield* sql<{ readonly blobs: string }>`select blobs from stevedore_object where key = ${
          key("torn")
        }`
        const [, name] = /"name":"(\w+)"/.exec(blob?.blobs ?? "") ?? []
        yield* fs.truncate(`${directory}/bytes/${name}`, 3)
        yield* sql`update stevedore_file set size = 4 where id = 'longer'`
        yield* sql`update stevedore_object set etag = '"other"' where key = ${key("replaced")}`
        yield* store.put(key("stranger"), new TextEncoder().encode("hello"))
        yield* sql`update stevedore_usage set bytes = bytes + 7 where tenant = 'acme'`
        const others = [
          "changed longer",
          "changed replaced",
          "missing missing",
          "unknown files/acme/stranger",
          "unreadable torn"
        ]
        assert.deepStrictEqual(yield* wrong(), [...others, "usage acme"].sort())
        assert.deepStrictEqual(yield* wrong(true), [...others, "usage acme repaired"].sort())
        assert.deepStrictEqual(yield* wrong(), others)
        assert.isTrue(yield* table.open(newFile("last", { size: 1 }), { bytes: 30 }))
        assert.isFalse(yield* table.open(newFile("one too many", { size: 1 }), { bytes: 30 }))
      }).pipe(Effect.provide(context))
    }).pipe(Effect.provide(NodeContext.layer)))
})
