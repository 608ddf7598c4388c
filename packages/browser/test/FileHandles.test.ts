import { assert, describe, it, vi } from "@effect/vitest"
import { FileHandles } from "@stevedore/browser"
import { ServiceApi, UploadLedger, UploadSources } from "@stevedore/core"
import { recordOf } from "@stevedore/core/Uploads"
import { SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Option, TestClock } from "effect"
import "fake-indexeddb/auto"
import * as Databases from "../src/ledger/database.js"

const live = (database: string) => Layer.merge(FileHandles.layer({ database }), SandboxLayer.memory())

// a plain object, as a database of a test stores no real handle
const handle = (name: string) =>
  ({ kind: "file", name, getFile: "asked by the browser" }) as object as FileSystemFileHandle

const source = UploadSources.fromBytes("a.txt", new Uint8Array([1]))
const known = { ...source, fingerprint: { ...source.fingerprint, identity: "1" } }

const idOf = Effect.map(
  ServiceApi.ServiceApi,
  ({ baseUrl }) => Option.getOrThrow(UploadLedger.idOf(baseUrl, known))
)

/** What another script of the origin keeps, or leaves, where handles are kept. */
const inDatabase = <A>(database: string, request: (store: IDBObjectStore) => IDBRequest<A>) =>
  Effect.scoped(
    Effect.flatMap(Databases.make(database), ({ run }) => run("handles", "readwrite", request))
  )

describe("FileHandles", () => {
  it.effect("finds a kept handle by the ledger's id of its upload until the handle is forgotten", () =>
    Effect.gen(function*() {
      const handles = yield* FileHandles.FileHandles
      const id = yield* idOf
      assert.deepStrictEqual(yield* handles.find(id), Option.none())
      yield* handles.keep(known, handle("a.txt"))
      assert.strictEqual(Option.getOrThrow(yield* handles.find(id)).name, "a.txt")
      yield* handles.forget(id)
      assert.deepStrictEqual(yield* handles.find(id), Option.none())
    }).pipe(Effect.provide(live("found"))))

  it.effect.each(
    [["drops", "without an upload", false], ["never drops", "whose upload is unfinished", true]] as const
  )(
    "%s a handle %s when a page keeps another handle more than a day later",
    ([, , isUnfinished]) =>
      Effect.gen(function*() {
        const id = yield* idOf
        const ledger = yield* UploadLedger.UploadLedger
        const session = yield* Effect.flatMap(ServiceApi.ServiceApi, (service) => service.initiateUpload(known))
        if (isUnfinished) yield* ledger.begin(yield* recordOf(known, id, session))
        const other = { ...known, name: "b.txt" }
        /** Each time a page of its own. */
        const keep = (source: typeof known) =>
          Effect.gen(function*() {
            const handles = yield* FileHandles.FileHandles
            yield* handles.keep(source, handle(source.name))
            return Option.isSome(yield* handles.find(id))
          }).pipe(Effect.provide(FileHandles.layer({ database: `dropped-${isUnfinished}` })))
        assert.isTrue(yield* keep(known))
        yield* TestClock.adjust("23 hours")
        assert.isTrue(yield* keep(other))
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(yield* keep(other), isUnfinished)
      }).pipe(Effect.provide(Layer.merge(SandboxLayer.memory(), UploadLedger.layerMemory)))
  )

  it.effect.each([
    { handle: "a.txt", keptAt: 0 },
    { handle: { kind: "directory", getFile: "asked by the browser" }, keptAt: 0 },
    { handle: handle("a.txt") },
    "a.txt"
  ])(
    "finds no handle in %j, which another script left there, and drops it with the next one kept",
    (value) =>
      Effect.gen(function*() {
        yield* inDatabase("foreign", (store) => store.put(value, "another"))
        yield* Effect.gen(function*() {
          const handles = yield* FileHandles.FileHandles
          assert.deepStrictEqual(yield* handles.find("another"), Option.none())
          yield* handles.keep(known, handle("a.txt"))
        }).pipe(Effect.provide(live("foreign")))
        assert.deepStrictEqual(yield* inDatabase("foreign", (store) => store.getAllKeys()), [yield* idOf])
      }).pipe(Effect.provide(SandboxLayer.memory()))
  )

  it.scoped("keeps 20 handles with fewer than 20 reads of the database", () =>
    Effect.gen(function*() {
      const handles = yield* FileHandles.FileHandles
      const reads = vi.spyOn(IDBObjectStore.prototype, "get")
      yield* Effect.addFinalizer(() => Effect.sync(() => reads.mockRestore()))
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => `${index}.txt`),
        (name) => handles.keep({ ...known, name }, handle(name))
      )
      assert.isBelow(reads.mock.calls.length, 20)
    }).pipe(Effect.provide(live("many"))))

  it.effect("allows a handle only if the user grants permission, and always if the browser has nothing to ask", () =>
    Effect.gen(function*() {
      const asking = (state: PermissionState) =>
        Object.assign(handle("a.txt"), { requestPermission: () => Promise.resolve(state) })
      assert.isTrue(yield* FileHandles.allow(asking("granted")))
      assert.isFalse(yield* FileHandles.allow(asking("denied")))
      assert.isTrue(yield* FileHandles.allow(handle("a.txt")))
    }))
})
