import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Layer, Stream } from "effect"
import * as FileAudit from "../../src/FileAudit.js"
import { FileTable } from "../../src/FileTable.js"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import { newFile } from "../support/fileTableLaws.js"
import { databaseIn } from "../support/sqlite.js"

describe("rows and store of a service", () => {
  it.scopedLive("are compared byte by byte when it is asked for: each of 100 flipped blobs is named", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const context = yield* Layer.build(FileAudit.layer.pipe(
        Layer.provideMerge(SqlObjectStore.layer({ directory, minimumPartSize: 1 })),
        Layer.provideMerge(SqlFileTable.layer),
        Layer.provideMerge(databaseIn(`${directory}/files.db`))
      ))
      yield* Effect.gen(function*() {
        const table = yield* FileTable
        const store = yield* ObjectStore.ObjectStore
        const { verify } = yield* FileAudit.FileAudit
        const ids = Array.from({ length: 120 }, (_, index) => `f${String(index).padStart(3, "0")}`)
        const stored = (id: string, key: string, index: number) =>
          Effect.gen(function*() {
            const bytes = Stream.make(new Uint8Array(1 + index * 7).fill(index))
            if (index % 2 === 0) return yield* store.put(key, bytes)
            const uploadId = yield* store.createUpload(key)
            const parts = yield* Effect.forEach([1, 2, 3], (number) => store.putPart(key, uploadId, number, bytes))
            return yield* store.completeUpload(key, uploadId, parts)
          })
        yield* Effect.forEach(ids, (id, index) =>
          Effect.gen(function*() {
            const key = `files/acme/${id}`
            yield* table.open(newFile(id, { size: (1 + index * 7) * (index % 2 === 0 ? 1 : 3), key }))
            const { checksum, etag } = yield* stored(id, key, index)
            yield* table.claim("acme", id, "me", 60_000)
            yield* table.settle(id, "me", { state: "finalized", etag, checksum })
          }))
        const read: Array<string> = []
        const wrong = (after?: string) =>
          Effect.map(
            Stream.runCollect(verify({
              repair: false,
              bytes: { after, onRead: (id) => Effect.sync(() => void read.push(id)) }
            })),
            (found) => Chunk.toReadonlyArray(found).map(({ subject, what }) => `${what} ${subject}`)
          )
        assert.deepStrictEqual(yield* wrong(), [])
        assert.deepStrictEqual(read, ids)

        const sql = yield* SqlClient.SqlClient
        const flipped = ids.slice(20)
        for (const id of flipped) {
          const [row] = yield* sql<{ readonly blobs: string }>`select blobs from stevedore_object
            where key = ${`files/acme/${id}`}`
          const name = [...(row?.blobs ?? "").matchAll(/"name":"(\w+)"/g)].at(-1)?.[1]
          const bytes = yield* fs.readFile(`${directory}/bytes/${name}`)
          bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 4
          yield* fs.writeFile(`${directory}/bytes/${name}`, bytes)
        }
        assert.deepStrictEqual(yield* wrong(), flipped.map((id) => `changed ${id}`))
        assert.deepStrictEqual(yield* wrong("f117"), ["changed f118", "changed f119"])

        // over all files, although each has less than a second may take
        const bytes = ids.reduce((sum, _, index) => sum + (1 + index * 7) * (index % 2 === 0 ? 1 : 3), 0)
        const [took] = yield* Effect.timed(
          Stream.runDrain(verify({ repair: false, bytes: { bytesPerSecond: bytes / 2 } }))
        )
        assert.isAbove(Duration.toMillis(took), 1500)
      }).pipe(Effect.provide(context))
    }).pipe(Effect.provide(NodeContext.layer)))
})
