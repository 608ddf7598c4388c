import { assert, describe, it } from "@effect/vitest"
import { ServiceApi, UploadLedger, type UploadSource, UploadSources } from "@stevedore/core"
import { recordOf } from "@stevedore/core/Uploads"
import { SandboxLayer } from "@stevedore/testing"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import * as HeldLedger from "../../src/upload/heldLedger.js"

const bytes = new Uint8Array(10)

const plain = UploadSources.fromBytes("interview.mp4", bytes)

/** A file that is recognized when it is uploaded again. */
const source: UploadSource = { ...plain, fingerprint: { kind: "file", size: 10, modified: 1, identity: "1:2" } }

/** A session of its own each time. */
const recorded = Effect.gen(function*() {
  const service = yield* ServiceApi.ServiceApi
  const session = yield* service.initiateUpload({ name: source.name, mediaType: source.mediaType, size: 10 })
  return yield* recordOf(source, Option.getOrThrow(UploadLedger.idOf(service.baseUrl, source)), session)
})

const inLedger = Effect.gen(function*() {
  const ledger = yield* UploadLedger.UploadLedger
  return (yield* ledger.unfinished).map(({ record }) => record.session.fileId)
})

const world = Layer.merge(UploadLedger.layerMemory, SandboxLayer.memory())

describe("a held ledger", () => {
  it.scoped("forgets an upload when it is told to settle, and not before", () =>
    Effect.gen(function*() {
      const { ledger, settle } = yield* HeldLedger.make
      const record = yield* recorded
      yield* ledger.begin(record)
      yield* ledger.forget(record)
      assert.deepStrictEqual(yield* inLedger, [record.session.fileId])
      yield* settle
      assert.deepStrictEqual(yield* inLedger, [])
    }).pipe(Effect.provide(world)))

  it.scoped("never forgets a new session for the dead one that it replaces", () =>
    Effect.gen(function*() {
      const { ledger, settle } = yield* HeldLedger.make
      const dead = yield* recorded
      yield* ledger.begin(dead)
      yield* ledger.forget(dead)
      const alive = yield* recorded
      yield* ledger.begin(alive)
      assert.deepStrictEqual(yield* inLedger, [alive.session.fileId])
      yield* settle
      assert.deepStrictEqual(yield* inLedger, [alive.session.fileId])
    }).pipe(Effect.provide(world)))

  it.scoped("keeps the lock of its upload until its own scope closes, whatever scope asked for it", () =>
    Effect.gen(function*() {
      const own = yield* Scope.make()
      const { ledger } = yield* Scope.extend(HeldLedger.make, own)
      const { lock } = yield* UploadLedger.UploadLedger
      assert.isTrue(yield* Effect.scoped(ledger.lock("a")))
      assert.isFalse(yield* Effect.scoped(lock("a")))
      yield* Scope.close(own, Exit.void)
      assert.isTrue(yield* Effect.scoped(lock("a")))
    }).pipe(Effect.provide(world)))
})

describe("forgetDone", () => {
  const begun = Effect.gen(function*() {
    const record = yield* recorded
    yield* Effect.flatMap(UploadLedger.UploadLedger, (ledger) => ledger.begin(record))
    return record
  })

  it.scoped("forgets the upload of this file, and no other upload of the same source", () =>
    Effect.gen(function*() {
      const { session: { fileId } } = yield* begun
      yield* HeldLedger.forgetDone(new Set(["another"]))
      assert.deepStrictEqual(yield* inLedger, [fileId])
      yield* HeldLedger.forgetDone(new Set([fileId]))
      assert.deepStrictEqual(yield* inLedger, [])
    }).pipe(Effect.provide(world)))

  it.scoped("leaves alone what another process is uploading", () =>
    Effect.gen(function*() {
      const { id, session: { fileId } } = yield* begun
      const { lock } = yield* UploadLedger.UploadLedger
      yield* Effect.scoped(Effect.zipRight(lock(id), HeldLedger.forgetDone(new Set([fileId]))))
      assert.deepStrictEqual(yield* inLedger, [fileId])
    }).pipe(Effect.provide(world)))
})
