import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { type FileRecord, ServiceApi, ServiceError, UploadLedger } from "@stevedore/core"
import { StevedoreHttpApp, UploadOutbox } from "@stevedore/node"
import { Sandbox, SandboxLayer } from "@stevedore/testing"
import { Effect, Fiber, Layer, Option, Schema, TestClock } from "effect"
import {
  ask,
  aWhile,
  type Called,
  described,
  kinds,
  losses,
  metadata,
  noting,
  quietly,
  sent
} from "../support/uploadHooks.js"

describe("the hooks of StevedoreHttpApp", () => {
  it.effect.each(kinds)(
    "are called once with user, file and metadata, before the page hears of it: %s",
    (kind) =>
      Effect.gen(function*() {
        const called: Array<Called> = []
        const files: Array<FileRecord.FileRecord> = []
        const app = noting(called, { hook: (file) => Effect.sync(() => files.push(file)) })
        const { body, fileId, path } = yield* sent(app, kind)
        const answers = [yield* ask(app, path, body), yield* ask(app, path, body)]
        assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200])
        assert.deepStrictEqual(answers[0], answers[1])
        assert.deepStrictEqual(called, [["completed", "Ada", fileId, metadata]])
        assert.deepInclude(files[0], { id: fileId, name: "a.txt", type: "text/plain", size: 5 })
        assert.strictEqual(
          (yield* Sandbox.report).requests.filter(({ operation }) => operation.startsWith("complete"))
            .length,
          1
        )
      }).pipe(Effect.provide(SandboxLayer.memory({ minimumPartSize: 1 })))
  )

  it.effect("a service that says only that it is done is told with what the page declared", () =>
    Effect.gen(function*() {
      const files: Array<FileRecord.FileRecord> = []
      const app = noting([], { hook: (file) => Effect.sync(() => files.push(file)) })
      const { body, path } = yield* sent(app, "single")
      yield* ask(app, path, body).pipe(
        Effect.updateService(ServiceApi.ServiceApi, (api) => ({
          ...api,
          completeUpload: ({ fileId }) => Effect.succeed({ id: fileId })
        }))
      )
      assert.deepInclude(files[0], { name: "a.txt", type: "text/plain", size: 5 })
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("a refusal after a lost answer is no failure if the file is there", () =>
    Effect.gen(function*() {
      const called: Array<Called> = []
      const app = noting(called)
      const { body, fileId, path } = yield* sent(app, "single")
      let asked = 0
      const strict = Effect.updateService(ServiceApi.ServiceApi, (api): ServiceApi.Service => ({
        ...api,
        completeUpload: (input) => asked++ === 0 ? api.completeUpload(input) : refused,
        // nor can it say at first whether the file is there
        file: (id) => asked === 1 ? refused : api.file(id)
      }))
      assert.strictEqual((yield* strict(ask(app, path, body))).status, 503)
      assert.strictEqual((yield* strict(ask(app, path, body))).status, 200)
      assert.deepStrictEqual(called, [["completed", "Ada", fileId, metadata]])
    }).pipe(quietly, Effect.provide(SandboxLayer.memory({ faults: losses["its answer is lost"] }))))

  it.effect("an upload that the service refuses for good has failed, once", () =>
    Effect.gen(function*() {
      const called: Array<Called> = []
      const app = noting(called)
      const { body, fileId, path } = yield* sent(app, "parts")
      const refusing = Effect.updateService(ServiceApi.ServiceApi, (api): ServiceApi.Service => ({
        ...api,
        completeLargeUpload: () => refused
      }))
      for (let time = 0; time < 3; time++) assert.strictEqual((yield* refusing(ask(app, path, body))).status, 409)
      yield* aWhile
      assert.deepStrictEqual(called, [["failed", "Ada", fileId, metadata]])
    }).pipe(quietly, Effect.provide(SandboxLayer.memory({ minimumPartSize: 1 }))))

  it.effect("parts that storage does not know are for the page to send again: nothing has failed yet", () =>
    Effect.gen(function*() {
      const called: Array<Called> = []
      const app = noting(called)
      const { body, fileId, path } = yield* sent(app, "parts")
      const invalid = new ServiceError.RequestRejected({
        operation: "completeLargeUpload",
        status: 400,
        issues: [{ code: "InvalidPart", title: "A part is not known" }],
        attempts: 1
      })
      const rejecting = Effect.updateService(ServiceApi.ServiceApi, (api): ServiceApi.Service => ({
        ...api,
        completeLargeUpload: () => Effect.fail(invalid)
      }))
      assert.strictEqual((yield* rejecting(ask(app, path, body))).status, 400)
      yield* aWhile
      assert.deepStrictEqual(called, [])
      assert.strictEqual((yield* ask(app, path, body)).status, 200)
      assert.deepStrictEqual(called, [["completed", "Ada", fileId, metadata]])
    }).pipe(quietly, Effect.provide(SandboxLayer.memory({ minimumPartSize: 1 }))))

  it.effect("metadata out of bounds is refused before the service is asked", () =>
    Effect.gen(function*() {
      const app = noting([])
      for (const path of ["/v2/files/upload", "/v2/files/large-upload"]) {
        const { json, status } = yield* ask(app, path, { ...described, metadata: { "a b": "c" } })
        assert.deepStrictEqual([status, json.errors[0].path], [400, "metadata"])
        assert.strictEqual((yield* ask(app, path, { ...described, metadata: { a: "x".repeat(2048) } })).status, 400)
      }
      assert.deepStrictEqual((yield* Sandbox.report).requests, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("metadata is told to `permit` and `opened`, and goes to no service whose profile has no place for it", () =>
    Effect.gen(function*() {
      const told: Array<unknown> = []
      const app = StevedoreHttpApp.make({
        authorize: () => Effect.succeed("Ada"),
        permit: (_, call) => Effect.sync(() => (told.push("metadata" in call && call.metadata), true)),
        opened: (_, upload) => Effect.sync(() => told.push(upload.metadata))
      })
      yield* ask(app, "/v2/files/upload", described)
      assert.deepStrictEqual(told, [metadata, metadata])
      assert.notInclude(JSON.stringify((yield* Sandbox.report).requests), "Rotterdam")
    }).pipe(Effect.provide(SandboxLayer.memory())))
})

const refused = Effect.fail(new ServiceError.UploadConflict({ operation: "completeUpload", status: 409, issues: [] }))

const stored = Effect.map(KeyValueStore.KeyValueStore, (store) => ({
  store,
  outbox: (lock?: UploadLedger.Lock) => UploadOutbox.make({ store, user: Schema.String, lock })
}))

describe("an outbox in a store", () => {
  it.effect.each(kinds)(
    "a process that starts asks for what an earlier one did not hear of: %s",
    (kind) =>
      Effect.gen(function*() {
        const { outbox } = yield* stored
        const called: Array<Called> = []
        const first = noting(called, { outbox: outbox() })
        const { body, fileId, path } = yield* sent(first, kind)
        // its process dies while the service is asked
        const hanging = Effect.updateService(ServiceApi.ServiceApi, (api): ServiceApi.Service => ({
          ...api,
          completeUpload: () => Effect.never,
          completeLargeUpload: () => Effect.never
        }))
        yield* Effect.fork(hanging(ask(first, path, body)))
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(called, [])
        const second = noting(called, { outbox: outbox() })
        // any request will do
        assert.strictEqual((yield* ask(second, "/v1/files/other")).status, 404)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(called, [["completed", "Ada", fileId, metadata]])
        const third = noting(called, { outbox: outbox() })
        assert.strictEqual((yield* ask(third, path, body)).status, 200)
        yield* aWhile
        assert.lengthOf(called, 1)
      }).pipe(
        Effect.provide(Layer.merge(KeyValueStore.layerMemory, SandboxLayer.memory({ minimumPartSize: 1 })))
      )
  )

  it.effect("a hook whose process dies is called again with the same file", () =>
    Effect.gen(function*() {
      const { outbox } = yield* stored
      const called: Array<Called> = []
      const first = noting(called, { outbox: outbox(), hook: () => Effect.never })
      const { body, fileId, path } = yield* sent(first, "single")
      yield* Effect.fork(ask(first, path, body))
      yield* TestClock.adjust("1 second")
      const second = noting(called, { outbox: outbox() })
      yield* ask(second, "/v1/files/other")
      yield* TestClock.adjust("1 second")
      const one: Called = ["completed", "Ada", fileId, metadata]
      assert.deepStrictEqual(called, [one, one])
    }).pipe(Effect.provide(Layer.merge(KeyValueStore.layerMemory, SandboxLayer.memory()))))

  it.effect("two processes that share a lock call the hook once, whichever is asked", () =>
    Effect.gen(function*() {
      const { outbox } = yield* stored
      const lock = yield* UploadLedger.makeLock
      const called: Array<Called> = []
      const apps = [0, 1].map(() => noting(called, { outbox: outbox(lock), hook: () => Effect.sleep("5 seconds") }))
      const [first = apps[0]] = apps
      assert.isDefined(first)
      const { body, path } = yield* sent(first, "single")
      const asking = yield* Effect.fork(
        Effect.forEach(apps, (app) => ask(app, path, body), { concurrency: "unbounded" })
      )
      yield* Effect.repeatN(TestClock.adjust("1 second"), 20)
      const answers = yield* Fiber.join(asking)
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200])
      assert.lengthOf(called, 1)
    }).pipe(Effect.provide(Layer.merge(KeyValueStore.layerMemory, SandboxLayer.memory()))))

  it.effect("an entry that cannot be read counts as none: nobody is known to have opened the upload", () =>
    Effect.gen(function*() {
      const { outbox, store } = yield* stored
      const called: Array<Called> = []
      const app = noting(called, { outbox: outbox() })
      const { body, fileId, path } = yield* sent(app, "single")
      yield* store.set(`upload/${fileId}`, "{")
      assert.strictEqual((yield* ask(app, path, body)).status, 404)
      assert.deepStrictEqual(called, [])
    }).pipe(Effect.provide(Layer.merge(KeyValueStore.layerMemory, SandboxLayer.memory()))))

  it.effect("holds no token and no signed URL", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const { store } = yield* stored
      const watching = UploadOutbox.make({
        store: {
          get: store.get,
          set: (key: string, value: string | Uint8Array) =>
            Effect.zipRight(Effect.sync(() => written.push(String(value))), store.set(key, value))
        },
        user: Schema.String
      })
      const app = noting([], { outbox: watching })
      const { body, path } = yield* sent(app, "parts")
      yield* ask(app, path, body)
      assert.isAbove(written.length, 2)
      assert.notMatch(written.join("\n"), /X-Amz|api\.|https?:/)
    }).pipe(
      Effect.provide(Layer.merge(KeyValueStore.layerMemory, SandboxLayer.memory({ minimumPartSize: 1 })))
    ))
})

describe("an outbox in memory", () => {
  it.effect("knows the last 10,000 uploads", () =>
    Effect.gen(function*() {
      const outbox = UploadOutbox.inMemory<string>()
      for (let index = 0; index <= 10_000; index++) {
        yield* outbox.put({ fileId: `f${index}`, user: "Ada", metadata: {}, phase: "opened" })
      }
      assert.isTrue(Option.isNone(yield* outbox.find("f0")))
      assert.isTrue(Option.isSome(yield* outbox.find("f1")))
    }))
})
