import { FileSystem, HttpBody, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Data, Effect, Layer, Redacted } from "effect"
import * as FileStore from "../src/FileStore.js"
import * as ObjectStoreMemory from "../src/parts/objectStoreMemory.js"
import * as S3FileStore from "../src/S3FileStore.js"
import * as SqlObjectStore from "../src/SqlObjectStore.js"
import * as Bucket from "./support/bucket.js"
import type { Put } from "./support/fileStoreLaws.js"
import { laws } from "./support/fileStoreLaws.js"
import { database } from "./support/sqlite.js"

const PART = 4

const credential = { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" }

const signing = FileStore.layer({ credential, origin: "https://files.example", bucket: "files" })

const directory = Layer.unwrapScoped(
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-file-store-" })
    return SqlObjectStore.layer({ directory: `${folder}/store`, minimumPartSize: PART })
  })
).pipe(Layer.provide([NodeContext.layer, database]))

laws("in memory", Layer.provide(signing, ObjectStoreMemory.layer({ minimumPartSize: PART })), PART)
laws("in a directory", Layer.provide(signing, directory), PART)

class Refused extends Data.TaggedError("Refused")<{ readonly status: number }> {}

const bucket = { endpoint: "http://bucket.test", bucket: "files", credential }

const abilities = {
  versions: { versions: true },
  "if-none-match": { ifNoneMatch: true, copy: true },
  copy: { copy: true }
} as const

for (const [protection, able] of Object.entries(abilities)) {
  const client = Bucket.make(able, PART)
  const put: Put = (store, key, body) =>
    Effect.gen(function*() {
      const headers = store.putHeaders ?? {}
      const url = yield* store.presign({ method: "PUT", key, headers, expiresIn: 60 })
      const { status } = yield* client.execute(
        HttpClientRequest.put(url, { headers, body: HttpBody.stream(body) })
      )
      if (status !== 200) return yield* new Refused({ status })
    })
  const store = Layer.unwrapEffect(
    Effect.map(S3FileStore.protectionOf(bucket), (found) => {
      assert.strictEqual(found, protection)
      return S3FileStore.layer(bucket, found)
    })
  )
  laws(`in a bucket: ${protection}`, Layer.provide(store, Layer.succeed(HttpClient.HttpClient, client)), PART, put)
}

describe("a bucket in which nothing keeps a file", () => {
  it.effect("is refused", () =>
    Effect.gen(function*() {
      const { code, message } = yield* Effect.flip(S3FileStore.protectionOf(bucket))
      assert.strictEqual(code, "NotImplemented")
      assert.include(message, "turn on versioning")
    }).pipe(Effect.provideService(HttpClient.HttpClient, Bucket.make({}, PART))))
})
