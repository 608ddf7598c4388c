import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, TestClock } from "effect"
import * as FileTable from "../../src/FileTable.js"
import * as Hooks from "../../src/Hooks.js"
import * as StorageRefused from "../../src/StorageRefused.js"
import * as Sweeper from "../../src/Sweeper.js"
import * as Uploads from "../../src/Uploads.js"
import { Life } from "../support/life.js"
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
} from "../support/uploads.js"

describe("an upload at the service", () => {
  it.effect("is not held for longer than the store may take", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const silent: World = { ...world, store: { ...world.store, completeUpload: () => Effect.never } }
      const stuck = yield* instance(silent, { uploads: { storeTimeout: "1 minute" } })
      const { fileId, uploadId } = yield* stuck.initiateLarge(ann, declared, 2)
      const listed = { uploadId, parts: yield* parts(world, fileId, uploadId) }
      const asking = yield* Effect.fork(Effect.exit(stuck.complete(ann, fileId, listed)))
      yield* TestClock.adjust("10 seconds")
      const other = yield* instance(world)
      assert.strictEqual((yield* soon(Effect.flip(other.complete(ann, fileId, listed)))).status, 503)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(asking)))
      assert.strictEqual((yield* soon(other.complete(ann, fileId, listed))).state, "finalized")
    }))

  it.scoped.each(
    [
      ["hangs", Effect.never],
      ["hangs and cannot be ended", Effect.uninterruptible(Effect.never)],
      ["dies", Effect.die("a mistake in the hook")]
    ] as const
  )("is told again by a hook that %s for it, and no other file waits for that", ([, ending]) =>
    Effect.gen(function*() {
      const world = makeWorld()
      const told: Array<string> = []
      const inspected: Array<string> = []
      let isWell = false
      const behaves = (file: FileTable.FileRow) =>
        Effect.suspend(() => isWell || file.name === "good" ? Effect.void : ending)
      const hooks: Hooks.HooksService = {
        ...Hooks.none,
        inspect: (file) =>
          Effect.as(Effect.zipRight(Effect.sync(() => inspected.push(file.name)), behaves(file)), true),
        onCompleted: ({ file, id }) => Effect.zipRight(Effect.sync(() => told.push(id)), behaves(file))
      }
      const plain = yield* instance(world)
      const looking = yield* instance(world, { hooks })
      const upload = (uploads: Uploads.UploadsService, name: string) =>
        Effect.gen(function*() {
          const { fileId } = yield* uploads.initiate(ann, { ...declared, name })
          yield* put(world, fileId)
          yield* uploads.complete(ann, fileId, undefined)
          return fileId
        })
      // more than are delivered or looked at at once
      const bad = yield* Effect.forEach(Array.from({ length: 5 }), () => upload(plain, "bad"))
      yield* Effect.forEach(Array.from({ length: 5 }), () => upload(looking, "bad"))
      yield* Layer.build(Sweeper.layer()).pipe(
        Effect.provideService(FileTable.FileTable, world.table),
        Effect.provideService(Uploads.Uploads, looking),
        Effect.provideService(Hooks.Hooks, hooks)
      )
      yield* TestClock.adjust("10 seconds")
      const good = yield* upload(plain, "good")
      yield* upload(looking, "good")
      yield* TestClock.adjust("10 seconds")
      assert.include(told, `${good}/completed`)
      assert.include(inspected, "good")

      isWell = true
      yield* TestClock.adjust("6 minutes")
      for (const id of bad) assert.isAtLeast(told.filter((one) => one === `${id}/completed`).length, 2)
      assert.deepStrictEqual(yield* eventsOf(world), [])
      assert.strictEqual(yield* world.table.count("acme"), 12)
      // what was told since is told no more
      const before = told.length
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(told.length, before)
    }))
})

describe("a service whose store is away for half a minute", () => {
  it.effect("says so, and goes on by itself when it is back", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const store = { isAway: false }
      const reached = new Proxy(world.store, {
        get: (target, name, receiver) => {
          const member: unknown = Reflect.get(target, name, receiver)
          return typeof member !== "function" || name === "presign" ?
            member :
            (...args: ReadonlyArray<unknown>) =>
              Effect.suspend(() => {
                const answer: unknown = store.isAway
                  ? StorageRefused.make("ServiceUnavailable")
                  : Reflect.apply(member, target, args)
                return Effect.isEffect(answer) ? answer : Effect.die("no effect")
              })
        }
      })
      const uploads = yield* instance({ ...world, store: reached })
      const whole = yield* uploads.initiate(ann, declared)
      yield* put(world, whole.fileId)
      const large = yield* uploads.initiateLarge(ann, declared, 2)
      const listed = { uploadId: large.uploadId, parts: yield* parts(world, large.fileId, large.uploadId) }
      const orphan = yield* (yield* instance(world, { uploads: { orphanLifetime: "10 seconds" } })).initiateLarge(
        ann,
        declared,
        2
      )
      yield* Layer.build(Sweeper.layer()).pipe(
        Effect.provideService(FileTable.FileTable, world.table),
        Effect.provideService(Uploads.Uploads, uploads)
      )

      store.isAway = true
      for (let second = 0; second < 30; second += 10) {
        const answers = [
          yield* Effect.flip(soon(uploads.complete(ann, whole.fileId, undefined))),
          yield* Effect.flip(soon(uploads.complete(ann, large.fileId, listed))),
          yield* Effect.flip(soon(uploads.initiateLarge(ann, declared, 2)))
        ]
        assert.deepStrictEqual(answers.map(({ status }) => status), [503, 503, 503])
        // what needs no store is answered
        yield* uploads.initiate(ann, declared)
        yield* TestClock.adjust("10 seconds")
      }
      assert.lengthOf(yield* world.store.opened(`files/acme/${orphan.fileId}`), 1)

      store.isAway = false
      assert.strictEqual((yield* soon(uploads.complete(ann, whole.fileId, undefined))).state, "finalized")
      assert.strictEqual((yield* soon(uploads.complete(ann, large.fileId, listed))).state, "finalized")
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* world.store.opened(`files/acme/${orphan.fileId}`), [])
    }).pipe(Effect.scoped))
})

/** Both kinds of upload, all bytes stored, and the Complete of an instance that may die. */
const completing = (kind: "single" | "multipart") => (world: World, life: Life) =>
  Effect.gen(function*() {
    const first = yield* instance(world)
    const id = Effect.gen(function*() {
      if (kind === "single") {
        const { fileId } = yield* first.initiate(ann, declared)
        yield* put(world, fileId)
        return { fileId, listed: undefined }
      }
      const { fileId, uploadId } = yield* first.initiateLarge(ann, declared, 2)
      return { fileId, listed: { uploadId, parts: yield* parts(world, fileId, uploadId) } }
    })
    const { fileId, listed } = yield* Effect.orDie(id)
    const dying = yield* instance(world, { life })
    const asking = yield* Effect.forkDaemon(Effect.exit(dying.complete(ann, fileId, listed)))
    if (life.until === Infinity) yield* Fiber.join(asking)
    else for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
    return { fileId, listed }
  })

describe("a service that dies", () => {
  for (const kind of ["single", "multipart"] as const) {
    it.effect(`while it completes a ${kind} upload is followed by whoever is asked next`, () =>
      Effect.gen(function*() {
        const events = yield* eventsOn(completing(kind))
        assert.isAbove(events, 6)
        for (let until = 0; until <= events; until++) {
          const world = makeWorld()
          const { fileId, listed } = yield* completing(kind)(world, new Life(until))
          const heir = yield* instance(world)
          const row = yield* soon(heir.complete(ann, fileId, listed))
          assert.strictEqual(row.state, "finalized", `died at event ${until}`)
          assert.deepStrictEqual(yield* eventsOf(world), [`${fileId}/completed`], `died at event ${until}`)
        }
      }))

    it.effect(`while it completes a ${kind} upload is followed by a sweeper, and nothing is lost`, () =>
      Effect.gen(function*() {
        const events = yield* eventsOn(completing(kind))
        const ends = new Set<string>()
        for (let until = 0; until <= events; until++) {
          const world = makeWorld()
          const { fileId, listed } = yield* completing(kind)(world, new Life(until))
          yield* TestClock.adjust("1 minute")
          const heir = yield* instance(world)
          yield* heir.sweep
          const row = Option.getOrThrow(yield* world.table.find("acme", fileId))
          ends.add(row.state)
          assert.include(["waiting", "finalized"], row.state, `died at event ${until}`)
          assert.strictEqual((yield* heir.complete(ann, fileId, listed)).state, "finalized", `died at event ${until}`)
          assert.deepStrictEqual(yield* eventsOf(world), [`${fileId}/completed`], `died at event ${until}`)
        }
        assert.deepStrictEqual([...ends].sort(), ["finalized", "waiting"])
      }))
  }

  it.effect("while it sweeps is followed by another, which forgets what is gone", () =>
    Effect.gen(function*() {
      const sweeping = (world: World, life: Life) =>
        Effect.gen(function*() {
          const first = yield* instance(world)
          const { fileId, uploadId } = yield* Effect.orDie(first.initiateLarge(ann, declared, 2))
          yield* Effect.orDie(parts(world, fileId, uploadId))
          yield* TestClock.adjust("25 hours")
          const dying = yield* instance(world, { life })
          const sweep = yield* Effect.forkDaemon(Effect.exit(dying.sweep))
          if (life.until === Infinity) yield* Fiber.join(sweep)
          else for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
          return fileId
        })
      const events = yield* eventsOn(sweeping)
      for (let until = 0; until <= events; until++) {
        const world = makeWorld()
        const fileId = yield* sweeping(world, new Life(until))
        yield* TestClock.adjust("1 minute")
        const heir = yield* instance(world)
        yield* heir.sweep
        assert.deepStrictEqual(yield* world.store.opened(`files/acme/${fileId}`), [])
        assert.deepStrictEqual(yield* eventsOf(world), [`${fileId}/removed`])
        yield* TestClock.adjust("2 hours")
        // until somebody has been told
        assert.strictEqual(yield* heir.sweep, 0)
        yield* world.table.delivered(`${fileId}/removed`)
        assert.strictEqual(yield* heir.sweep, 1)
        assert.isTrue(Option.isNone(yield* world.table.find("acme", fileId)))
      }
    }))
})
