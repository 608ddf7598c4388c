import { assert, describe, it } from "@effect/vitest"
import { FileHandles } from "@stevedore/browser"
import { ServiceApi, UploadLedger, UploadSources } from "@stevedore/core"
import { SandboxLayer } from "@stevedore/testing"
import { Effect, Layer, Option, TestClock } from "effect"
import "fake-indexeddb/auto"

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

describe("FileHandles", () => {
  it.effect("a kept handle is found by the id that the ledger has for its upload, until it is forgotten", () =>
    Effect.gen(function*() {
      const handles = yield* FileHandles.FileHandles
      const id = yield* idOf
      assert.deepStrictEqual(yield* handles.find(id), Option.none())
      yield* handles.keep(known, handle("a.txt"))
      assert.strictEqual(Option.getOrThrow(yield* handles.find(id)).name, "a.txt")
      yield* handles.forget(id)
      assert.deepStrictEqual(yield* handles.find(id), Option.none())
    }).pipe(Effect.provide(live("found"))))

  it.effect("a handle of an upload that is gone is dropped a day later", () =>
    Effect.gen(function*() {
      const handles = yield* FileHandles.FileHandles
      const id = yield* idOf
      yield* handles.keep(known, handle("a.txt"))
      const other = { ...known, name: "b.txt" }
      yield* TestClock.adjust("23 hours")
      yield* handles.keep(other, handle("b.txt"))
      assert.isTrue(Option.isSome(yield* handles.find(id)))
      yield* TestClock.adjust("2 hours")
      yield* handles.keep(other, handle("b.txt"))
      assert.deepStrictEqual(yield* handles.find(id), Option.none())
    }).pipe(Effect.provide(live("dropped"))))

  it.effect("allowed is what the user grants; where the browser cannot ask, nothing is", () =>
    Effect.gen(function*() {
      const asking = (state: PermissionState) =>
        Object.assign(handle("a.txt"), { requestPermission: () => Promise.resolve(state) })
      assert.isTrue(yield* FileHandles.allow(asking("granted")))
      assert.isFalse(yield* FileHandles.allow(asking("denied")))
      assert.isFalse(yield* FileHandles.allow(handle("a.txt")))
    }))
})
