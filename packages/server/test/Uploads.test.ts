import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Metric, Option, Ref, Scope, TestClock } from "effect"
import type { Principal } from "../src/Authorize.js"
import * as ServerMetrics from "../src/base/metrics.js"
import * as FileTable from "../src/FileTable.js"
import * as FileTableMemory from "../src/FileTableMemory.js"
import * as Hooks from "../src/Hooks.js"
import * as StorageRefused from "../src/StorageRefused.js"
import * as Sweeper from "../src/Sweeper.js"
import * as Uploads from "../src/Uploads.js"
import { Life } from "./support/life.js"
import {
  ann,
  declared,
  eventsOf,
  eventsOn,
  instance,
  makeWorld,
  parts,
  put,
  soon,
  type World
} from "./support/uploads.js"
const eve: Principal = { ...ann, tenant: "other" }

describe("an upload at the service", () => {
  it.effect("is a file with its Complete, and the same file however often that is asked", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId, uploadUrl } = yield* uploads.initiate(ann, declared)
      assert.include(decodeURIComponent(uploadUrl), "content-length;host;x-amz-server-side-encryption")
      assert.strictEqual((yield* Effect.flip(uploads.file(ann, fileId))).status, 404)
      assert.strictEqual((yield* Effect.flip(uploads.complete(ann, fileId, undefined))).status, 400)
      yield* put(world, fileId)
      const row = yield* uploads.complete(ann, fileId, undefined)
      assert.deepStrictEqual(yield* uploads.complete(ann, fileId, undefined), row)
      assert.deepStrictEqual(Uploads.toRecord(row), {
        id: fileId,
        name: "notes.txt",
        type: "text/plain",
        size: 6,
        status: "completed",
        author: { id: "ann", name: "Ann" },
        created_at: new Date(0).toISOString()
      })
      assert.deepStrictEqual(yield* eventsOf(world), [`${fileId}/completed`])
    }))

  it.effect("has its metadata in every hook", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const told: Array<unknown> = []
      const tell = (what: string, metadata: unknown) => Effect.sync(() => void told.push([what, metadata]))
      const hooks: Hooks.HooksService = {
        admit: (_, file) => tell("admit", file.metadata),
        inspect: (file) => Effect.as(tell("inspect", file.metadata), true),
        onCompleted: ({ file }) => tell("completed", file.metadata),
        onRemoved: ({ file }) => tell("removed", file.metadata),
        onFailed: ({ file }) => tell("failed", file.metadata)
      }
      const uploads = yield* instance(world, { hooks })
      const metadata = { album: "Rotterdam" }
      const { fileId } = yield* uploads.initiate(ann, { ...declared, metadata })
      yield* put(world, fileId)
      yield* uploads.complete(ann, fileId, undefined)
      const deliver = Sweeper.deliver.pipe(
        Effect.provideService(FileTable.FileTable, world.table),
        Effect.provideService(Hooks.Hooks, hooks)
      )
      yield* uploads.sweep
      yield* deliver
      yield* uploads.remove(ann, fileId)
      yield* uploads.sweep
      yield* deliver
      assert.deepStrictEqual(told, ["admit", "inspect", "completed", "removed"].map((what) => [what, metadata]))
    }))

  it.effect("is refused where its tenant has no room left, and let in when a file was removed", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world, {
        uploads: { quota: ({ tenant }) => tenant === "acme" ? { bytes: 12, files: 5 } : {} }
      })
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      yield* uploads.complete(ann, fileId, undefined)
      const large = yield* uploads.initiateLarge(ann, declared, 2)
      const full = yield* Effect.flip(uploads.initiateLarge(ann, { ...declared, size: 1 }, 1))
      assert.deepStrictEqual([full.status, full.errors[0].code, full.errors[0].path], [
        422,
        "UnprocessableContent",
        "size"
      ])
      // nothing of the refused one is open at the store, and other tenants are not concerned
      assert.lengthOf(yield* world.store.opened(`files/acme/${large.fileId}`), 1)
      yield* uploads.initiate(eve, { ...declared, size: 100 })
      yield* uploads.remove(ann, fileId)
      yield* uploads.initiate(ann, declared)
      yield* TestClock.adjust("25 hours")
      yield* uploads.sweep
      yield* uploads.initiate(ann, { ...declared, size: 12 })
      assert.strictEqual((yield* Effect.flip(uploads.initiate(ann, declared))).status, 422)
    }))

  it.effect("is not there for another tenant", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      assert.strictEqual((yield* Effect.flip(uploads.complete(eve, fileId, undefined))).status, 404)
      yield* uploads.complete(ann, fileId, undefined)
      for (const refused of [uploads.file(eve, fileId), uploads.finalized(eve, fileId), uploads.remove(eve, fileId)]) {
        assert.strictEqual((yield* Effect.flip(Effect.asVoid(refused))).status, 404)
      }
    }))

  it.effect("fails for good if the bytes are not those that were declared", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId, "abc")
      assert.strictEqual((yield* Effect.flip(uploads.complete(ann, fileId, undefined))).status, 422)
      assert.strictEqual((yield* Effect.flip(uploads.complete(ann, fileId, undefined))).status, 409)
      assert.strictEqual((yield* uploads.file(ann, fileId)).state, "failed")
      assert.strictEqual((yield* Effect.flip(world.store.head(`files/acme/${fileId}`))).code, "NoSuchKey")
      assert.deepStrictEqual(yield* eventsOf(world), [`${fileId}/failed`])
    }))

  it.effect("can be completed again after a list that the store refused", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId, uploadId, urls } = yield* uploads.initiateLarge(ann, declared, 2)
      assert.strictEqual(urls.length, 2)
      const listed = yield* parts(world, fileId, uploadId)
      const wrong = { uploadId, parts: listed.map(({ partNumber }) => ({ partNumber, etag: "\"other\"" })) }
      assert.strictEqual((yield* Effect.flip(uploads.complete(ann, fileId, wrong))).status, 502)
      assert.strictEqual((yield* Effect.flip(uploads.complete(ann, fileId, undefined))).status, 400)
      assert.strictEqual(
        (yield* Effect.flip(uploads.complete(ann, fileId, { uploadId: "other", parts: listed }))).status,
        400
      )
      const row = yield* uploads.complete(ann, fileId, { uploadId, parts: listed })
      assert.strictEqual(row.state, "finalized")
      // what is listed then does not matter any more
      assert.deepStrictEqual(yield* uploads.complete(ann, fileId, wrong), row)
    }))

  it.effect("is completed once by two instances that are asked at once", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const [one, other] = [yield* instance(world), yield* instance(world)]
      const { fileId, uploadId } = yield* one.initiateLarge(ann, declared, 2)
      const listed = { uploadId, parts: yield* parts(world, fileId, uploadId) }
      const rows = yield* soon(Effect.all(
        [one, other, one, other].map((uploads) => uploads.complete(ann, fileId, listed)),
        { concurrency: "unbounded" }
      ))
      assert.deepStrictEqual(rows.map(({ state }) => state), Array(4).fill("finalized"))
      assert.deepStrictEqual(yield* eventsOf(world), [`${fileId}/completed`])
    }))

  it.effect("is completed although the connection of its Complete is lost, and the service waits for it at its end", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const reached = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const slow: World = {
        ...world,
        store: {
          ...world.store,
          seal: (key) =>
            Deferred.succeed(reached, undefined).pipe(
              Effect.zipRight(Deferred.await(goOn)),
              Effect.zipRight(world.store.seal(key))
            )
        }
      }
      const uploads = yield* instance(slow)
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      const asking = yield* Effect.fork(uploads.complete(ann, fileId, undefined))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(asking)
      const ending = yield* Effect.fork(Scope.close(uploads.scope, Exit.void))
      yield* Effect.yieldNow()
      assert.isTrue(Option.isNone(yield* Fiber.poll(ending)))
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(ending)
      assert.strictEqual((yield* (yield* instance(world)).file(ann, fileId)).state, "finalized")
    }))

  it.effect("is not waited for without end by a service that ends", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const silent: World = { ...world, store: { ...world.store, seal: () => Effect.never } }
      const uploads = yield* instance(silent, { uploads: { drain: "10 seconds" } })
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      yield* Effect.forkDaemon(Effect.exit(uploads.complete(ann, fileId, undefined)))
      yield* TestClock.adjust("1 second")
      const ending = yield* Effect.fork(Scope.close(uploads.scope, Exit.void))
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(ending)))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(ending)
      yield* TestClock.adjust("1 minute")
      const heir = yield* instance(world)
      assert.strictEqual((yield* soon(heir.complete(ann, fileId, undefined))).state, "finalized")
    }), 30_000)

  it.effect("waits for its inspection, which is asked again until it answers", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const asked = yield* Ref.make(0)
      const uploads = yield* instance(world, {
        hooks: {
          inspect: ({ name }) =>
            Effect.flatMap(Ref.updateAndGet(asked, (times) => times + 1), (times) =>
              times === 1 ? Effect.fail("the scanner is away") : Effect.succeed(name === "notes.txt"))
        }
      })
      const upload = (name: string) =>
        Effect.gen(function*() {
          const { fileId } = yield* uploads.initiate(ann, { ...declared, name })
          yield* put(world, fileId)
          assert.strictEqual(Uploads.toRecord(yield* uploads.complete(ann, fileId, undefined)).status, "pending")
          assert.strictEqual((yield* Effect.flip(uploads.finalized(ann, fileId))).status, 404)
          return fileId
        })
      const good = yield* upload("notes.txt")
      yield* uploads.sweep
      assert.strictEqual((yield* uploads.file(ann, good)).state, "inspecting")
      assert.deepStrictEqual(yield* eventsOf(world), [])
      yield* TestClock.adjust("20 seconds")
      yield* uploads.sweep
      assert.strictEqual((yield* uploads.file(ann, good)).state, "finalized")
      const bad = yield* upload("virus.exe")
      yield* uploads.sweep
      assert.strictEqual((yield* uploads.file(ann, bad)).state, "failed")
      assert.strictEqual((yield* Effect.flip(world.store.head(`files/acme/${bad}`))).code, "NoSuchKey")
      assert.deepStrictEqual(yield* eventsOf(world), [`${good}/completed`, `${bad}/failed`])
    }))

  it.effect("is told to the hook until it succeeds, with one id", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      yield* uploads.complete(ann, fileId, undefined)
      const told = yield* Ref.make<ReadonlyArray<string>>([])
      const deliver = Sweeper.deliver.pipe(
        Effect.provideService(FileTable.FileTable, world.table),
        Effect.provideService(Hooks.Hooks, {
          ...Hooks.none,
          onCompleted: ({ attempts, id }) =>
            Effect.zipRight(
              Ref.update(told, (ids) => [...ids, id]),
              attempts < 2 ? Effect.fail("not yet") : Effect.void
            )
        })
      )
      const at: Array<number> = []
      for (let minute = 0; minute < 9; minute++) {
        yield* deliver
        at.push((yield* Ref.get(told)).length)
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(yield* Ref.get(told), Array(3).fill(`${fileId}/completed`))
      // after one minute, and after two
      assert.deepStrictEqual(at, [1, 2, 2, 3, 3, 3, 3, 3, 3])
    }))

  it.scoped("is told to the instance that has a hook, whichever has completed it, from the time on that one has", () =>
    Effect.gen(function*() {
      const world = { ...makeWorld(), table: FileTableMemory.make() }
      const uploads = yield* instance(world)
      const completed = Effect.gen(function*() {
        const { fileId } = yield* uploads.initiate(ann, declared)
        yield* put(world, fileId)
        yield* uploads.complete(ann, fileId, undefined)
        return fileId
      })
      const started = (hooks: Partial<Hooks.HooksService>) =>
        Layer.build(Sweeper.layer()).pipe(
          Effect.provideService(FileTable.FileTable, world.table),
          Effect.provideService(Uploads.Uploads, uploads),
          Effect.provideService(Hooks.Hooks, { ...Hooks.none, ...hooks })
        )
      yield* started({})
      yield* completed
      assert.strictEqual((yield* world.table.measures).waiting, 0)
      const told: Array<string> = []
      const scope = yield* Scope.make()
      yield* Scope.extend(started({ onCompleted: ({ file }) => Effect.sync(() => told.push(file.id)) }), scope)
      yield* Scope.close(scope, Exit.void)
      // while it is away, the other one goes on
      const left = yield* completed
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(told, [])
      yield* started({ onCompleted: ({ file }) => Effect.sync(() => told.push(file.id)) })
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(told, [left])
      assert.strictEqual((yield* world.table.measures).waiting, 0)
    }))

  it.effect("is told for a day to a hook that always fails, and then rests, counted", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      yield* uploads.complete(ann, fileId, undefined)
      const tries: Array<number> = []
      const deliver = Sweeper.deliver.pipe(
        Effect.provideService(FileTable.FileTable, world.table),
        Effect.provideService(Hooks.Hooks, {
          ...Hooks.none,
          onCompleted: ({ attempts }) => Effect.zipRight(Effect.sync(() => tries.push(attempts)), Effect.fail("away"))
        })
      )
      const dead = Metric.value(ServerMetrics.deadEvents)
      const before = yield* dead
      for (let hours = 0; hours < 72; hours++) {
        yield* deliver
        yield* TestClock.adjust("1 hour")
      }
      assert.deepStrictEqual(tries, Array.from({ length: FileTable.MOST_DELIVERIES }, (_, index) => index))
      assert.strictEqual((yield* dead).count, before.count + 1)
    }))

  it.effect("is removed with its bytes when its client asks for it", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const { fileId } = yield* uploads.initiate(ann, declared)
      yield* put(world, fileId)
      yield* uploads.complete(ann, fileId, undefined)
      yield* uploads.remove(ann, fileId)
      assert.strictEqual((yield* Effect.flip(uploads.file(ann, fileId))).status, 404)
      yield* uploads.sweep
      assert.strictEqual((yield* Effect.flip(world.store.head(`files/acme/${fileId}`))).code, "NoSuchKey")
      assert.include(yield* eventsOf(world), `${fileId}/removed`)
    }))

  it.effect("answers 503 while its table or its store is away", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const away = StorageRefused.make("ServiceUnavailable")
      const withoutStore = yield* instance({
        ...world,
        store: { ...world.store, createUpload: () => away, seal: () => away }
      })
      assert.strictEqual((yield* Effect.flip(withoutStore.initiateLarge(ann, declared, 2))).status, 503)
      const { fileId } = yield* withoutStore.initiate(ann, declared)
      yield* put(world, fileId)
      assert.strictEqual((yield* Effect.flip(withoutStore.complete(ann, fileId, undefined))).status, 503)
      // nobody has to wait for the lease
      assert.strictEqual((yield* (yield* instance(world)).complete(ann, fileId, undefined)).state, "finalized")
      const failed = new FileTable.TableFailed({ operation: "find a file", cause: new Error("away") })
      const withoutTable = yield* instance({ ...world, table: { ...world.table, find: () => failed } })
      assert.strictEqual((yield* Effect.flip(withoutTable.file(ann, fileId))).status, 503)
    }))
})

const initiating = (world: World, life: Life) =>
  Effect.flatMap(instance(world, { life }), (uploads) => Effect.exit(uploads.initiateLarge(ann, declared, 2)))

describe("a service that dies", () => {
  it.effect("while it initiates leaves nothing at the store after a day", () =>
    Effect.gen(function*() {
      const events = yield* eventsOn(initiating)
      assert.isAbove(events, 6)
      for (let until = 0; until <= events; until++) {
        const world = makeWorld()
        const opened: Array<string> = []
        const watched: World = {
          ...world,
          store: {
            ...world.store,
            createUpload: (key, options) => (opened.push(key), world.store.createUpload(key, options))
          }
        }
        yield* Effect.forkDaemon(initiating(watched, new Life(until)))
        yield* TestClock.adjust("25 hours")
        const heir = yield* instance(world)
        yield* heir.sweep
        for (const key of opened) {
          assert.deepStrictEqual(yield* world.store.opened(key), [], `died at event ${until}`)
        }
        assert.strictEqual(yield* heir.sweep, 0)
      }
    }))

  it.effect("is removed when it is older than its tenant keeps, by any of several that look, and no other is", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      const uploaded = (who: Principal) =>
        Effect.gen(function*() {
          const { fileId } = yield* uploads.initiate(who, declared)
          yield* put(world, fileId, "abcdef", who.tenant)
          yield* uploads.complete(who, fileId, undefined)
          return fileId
        })
      const old = yield* Effect.replicateEffect(uploaded(ann), 230)
      const others = yield* uploaded(eve)
      yield* TestClock.adjust("7 days")
      const young = yield* uploaded(ann)
      const expire = Sweeper.expire((tenant) => tenant === "acme" ? "6 days" : undefined, 1).pipe(
        Effect.provideService(FileTable.FileTable, world.table)
      )
      const counts = yield* Effect.all([expire, expire, expire], { concurrency: "unbounded" })
      assert.strictEqual(counts.reduce((sum, count) => sum + count), old.length)
      assert.strictEqual(yield* expire, 0)
      assert.deepStrictEqual(
        [(yield* world.table.page("acme", { limit: 9, direction: "asc", after: undefined })).map(({ id }) => id)],
        [[young]]
      )
      assert.strictEqual((yield* uploads.file(eve, others)).state, "finalized")
      yield* uploads.sweep
      assert.isTrue((yield* eventsOf(world)).some((id) => id.endsWith("/removed")))
    }))

  it.effect("is measured with all others, against the quota that all tenants have", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const uploads = yield* instance(world)
      yield* Effect.replicateEffect(uploads.initiate(ann, declared), 3)
      yield* uploads.initiate(eve, declared)
      const { stored } = ServerMetrics
      const measured = (quota: FileTable.Quota | undefined) =>
        Sweeper.measure(quota).pipe(
          Effect.provideService(FileTable.FileTable, world.table),
          Effect.zipRight(Effect.all([stored.bytes, stored.files, stored.tenants, stored.quotaUsed].map(Metric.value))),
          Effect.map((states) => states.map(({ value }) => value))
        )
      assert.deepStrictEqual(yield* measured(undefined), [24, 4, 2, 0])
      assert.deepStrictEqual(yield* measured({ bytes: 36 }), [24, 4, 2, 0.5])
      assert.deepStrictEqual(yield* measured({ bytes: 36, files: 4 }), [24, 4, 2, 0.75])
    }))
})
