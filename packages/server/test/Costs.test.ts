import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Statement } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as FileStore from "../src/FileStore.js"
import * as SqlDatabase from "../src/SqlDatabase.js"
import * as SqlFileTable from "../src/SqlFileTable.js"
import * as SqlObjectStore from "../src/SqlObjectStore.js"
import * as Uploads from "../src/Uploads.js"
import { databaseIn } from "./support/sqlite.js"
import { ann, bytes, declared } from "./support/uploads.js"

const signing: FileStore.Signing = {
  credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
  origin: "http://storage.test",
  bucket: "files"
}

/** The most that a small upload may take of the database and of the disk: they are only ever lowered. */
const most = { statements: 7, waits: 3 }

describe("a small upload to a service over a directory", () => {
  it.scopedLive("takes no more statements, and no more waits for the disk, than it needs", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const taken = { statements: 0, waits: 0 }
      const counting = Layer.succeed(SqlDatabase.Lasting, Effect.sync(() => void taken.waits++))
      const context = yield* Layer.build(
        Uploads.layer().pipe(
          Layer.provideMerge(FileStore.layer(signing)),
          Layer.provide(SqlObjectStore.layer({ directory })),
          Layer.provide(SqlFileTable.layer),
          Layer.provide(counting),
          Layer.provide(databaseIn(`${directory}/files.db`))
        )
      )
      yield* Effect.gen(function*() {
        const uploads = yield* Uploads.Uploads
        const store = yield* FileStore.FileStore
        taken.statements = taken.waits = 0
        const { fileId } = yield* uploads.initiate(ann, declared)
        yield* store.put(`files/acme/${fileId}`, bytes("abcdef"))
        assert.strictEqual((yield* uploads.complete(ann, fileId, undefined)).state, "finalized")
      }).pipe(
        Effect.provide(context),
        Statement.withTransformer((statement) =>
          Effect.sync(() => {
            taken.statements++
            return statement
          })
        )
      )
      assert.deepStrictEqual(taken, most)
    }).pipe(Effect.provide(NodeContext.layer)))
})
