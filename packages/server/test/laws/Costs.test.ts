import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Statement } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import { Effect, Layer, Logger, Redacted, Schema } from "effect"
import { setTimeout } from "node:timers/promises"
import { withinBudget } from "../../../node/test/support/budgets.js"
import * as Steps from "../../../node/test/support/steps.js"
import * as FileStore from "../../src/FileStore.js"
import * as NodeServe from "../../src/NodeServe.js"
import * as SqlDatabase from "../../src/SqlDatabase.js"
import * as SqlFileTable from "../../src/SqlFileTable.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import * as Uploads from "../../src/Uploads.js"
import { databaseIn } from "../support/sqlite.js"
import { ann, bytes, declared } from "../support/uploads.js"

const signing: FileStore.Signing = {
  credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" },
  origin: "http://storage.test",
  bucket: "files"
}

const Opened = Schema.parseJson(Schema.Struct({
  data: Schema.Struct({ id: Schema.String, upload_url: Schema.String })
}))

const decodeOpened = Schema.decodeSync(Opened)

/** The most that a small upload may take of the database and of the disk: they are only ever lowered. */
const most = { statements: 6, waits: 3 }

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

  it.scopedLive("takes no more steps of Effect than it needs, from the head of each request to its end", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const counter = yield* Steps.counter
      const { baseUrl, token } = yield* Effect.provide(
        NodeServe.serve({ directory: yield* fs.makeTempDirectoryScoped(), requestLog: true }),
        Layer.merge(counter.layer, Logger.remove(Logger.defaultLogger))
      )
      const call = async (method: string, url: string, headers: Readonly<Record<string, string>>, body: string) => {
        const response = await fetch(url, { method, headers, body })
        const text = await response.text()
        assert.isTrue(response.ok, text)
        return text
      }
      const authorization = `Bearer ${Redacted.value(token)}`
      const upload = Effect.promise(async () => {
        const before = counter.now()
        const opened = await call("POST", `${baseUrl}/v2/files/upload`, { authorization }, JSON.stringify(declared))
        const { data } = decodeOpened(opened)
        await call("PUT", data.upload_url, ServiceProfile.standard.encryptionHeaders, "abcdef")
        await call("POST", `${baseUrl}/v2/files/${data.id}/upload/complete`, { authorization }, "{}")
        // the line of the log follows its answer
        await setTimeout(20)
        return Steps.between(before, counter.now(), 1)
      })
      // the sweeper takes some too, now and then
      const taken = yield* Effect.replicateEffect(upload, 5)
      withinBudget({
        "serve: steps of a small upload": Math.min(...taken.map(({ steps }) => steps)),
        "serve: fibers of a small upload": Math.min(...taken.map(({ fibers }) => fibers)),
        "serve: calls of the file system of a small upload": Math.min(...taken.map(({ fileCalls }) => fileCalls))
      })
    }).pipe(Effect.provide(NodeContext.layer)))
})
