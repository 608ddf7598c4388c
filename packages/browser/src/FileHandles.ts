/**
 * File handles, kept beside the ledger: after a reload, the user allows access to the file again instead of having to
 * find it.
 */
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import type { UploadSource } from "@stevedore/core/UploadSource"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type * as IndexedDbKeyValueStore from "./IndexedDbKeyValueStore.js"
import * as Databases from "./ledger/database.js"
import type { DatabaseFailure } from "./ledger/database.js"

/**
 * Handles by upload id. The operations do not fail: if a handle cannot be kept, the file has to be chosen again.
 *
 * @category models
 */
export interface Service {
  /** Keeps the handle of a source. Keeps nothing for a source that the ledger cannot recognize again. */
  readonly keep: (
    source: Pick<UploadSource, "name" | "fingerprint">,
    handle: FileSystemFileHandle
  ) => Effect.Effect<void, never, ServiceApi>
  /** The handle of an unfinished upload, by its id in the ledger. */
  readonly find: (id: string) => Effect.Effect<Option.Option<FileSystemFileHandle>>
  /** Drops a handle. Handles whose uploads are gone are dropped after a day, by the next page that keeps a handle. */
  readonly forget: (id: string) => Effect.Effect<void>
}

/**
 * The service tag of {@link Service}.
 *
 * @category tags
 */
export class FileHandles extends Context.Tag("@stevedore/browser/FileHandles")<FileHandles, Service>() {}

interface Kept {
  readonly handle: FileSystemFileHandle
  readonly keptAt: number
}

const isHandle = (value: unknown): value is FileSystemFileHandle =>
  Predicate.hasProperty(value, "kind") && value.kind === "file" && Predicate.hasProperty(value, "getFile")

const isKept = (value: unknown): value is Kept =>
  Predicate.hasProperty(value, "handle") && isHandle(value.handle) &&
  Predicate.hasProperty(value, "keptAt") && Predicate.isNumber(value.keptAt)

const oneDay = 24 * 60 * 60 * 1000

/**
 * Keeps handles in the ledger's database.
 *
 * @category constructors
 */
export const make = (
  options: IndexedDbKeyValueStore.Options = {}
): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const database = yield* Databases.make(options.database)
    const quietly = <A>(effect: Effect.Effect<A, DatabaseFailure>): Effect.Effect<void> =>
      Effect.catchAll(
        Effect.asVoid(effect),
        ({ name }) => Effect.logDebug(`A file's handle could not be kept (${name}): the file must be chosen again`)
      )
    const read = (id: string) =>
      database.run("handles", "readonly", (store): IDBRequest<unknown> => store.get(id)).pipe(
        Effect.orElseSucceed(() => undefined)
      )
    const forget = (id: string) => quietly(database.run("handles", "readwrite", (store) => store.delete(id)))
    const dropOld = (ledger: UploadLedger.Service) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const keys: ReadonlyArray<IDBValidKey> = yield* database.run(
          "handles",
          "readonly",
          (store) => store.getAllKeys()
        ).pipe(
          Effect.orElseSucceed(() => [])
        )
        for (const id of keys.filter((key) => typeof key === "string")) {
          const kept = yield* read(id)
          const old = !isKept(kept) || now - kept.keptAt > oneDay
          if (old && Option.isNone(yield* ledger.find(id))) yield* forget(id)
        }
      })
    // this reads every kept handle, so it runs once and not for each file of a dropped folder
    const dropOldOnce = yield* Effect.once(Effect.flatMap(UploadLedger.UploadLedger, dropOld))
    return {
      keep: (source, handle) =>
        Effect.gen(function*() {
          const id = UploadLedger.idOf((yield* ServiceApi).baseUrl, source)
          const kept: Kept = { handle, keptAt: yield* Clock.currentTimeMillis }
          yield* Effect.transposeMapOption(
            id,
            (id) => quietly(database.run("handles", "readwrite", (store) => store.put(kept, id)))
          )
          yield* dropOldOnce
        }),
      find: (id) => Effect.map(read(id), (kept) => isKept(kept) ? Option.some(kept.handle) : Option.none()),
      forget
    }
  })

/**
 * {@link make} as a layer.
 *
 * @category layers
 */
export const layer = (options: IndexedDbKeyValueStore.Options = {}): Layer.Layer<FileHandles> =>
  Layer.scoped(FileHandles, make(options))

interface Permissions {
  readonly requestPermission: (descriptor: { readonly mode: "read" }) => Promise<PermissionState>
}

const hasPermissions = (handle: FileSystemFileHandle): handle is FileSystemFileHandle & Permissions =>
  Predicate.hasProperty(handle, "requestPermission") && Predicate.isFunction(handle.requestPermission)

/**
 * Asks the user to allow access to a kept file again. A browser asks once after each start of the page, and only within
 * a click or a key press. Returns `false` if the user denies it: then the file has to be chosen again. A browser that
 * cannot ask has handles only of the page's own files (`navigator.storage.getDirectory()`), which need no permission.
 *
 * @category permissions
 */
export const allow = (handle: FileSystemFileHandle): Effect.Effect<boolean> =>
  hasPermissions(handle)
    ? Effect.tryPromise(() => handle.requestPermission({ mode: "read" })).pipe(
      Effect.map((state) => state === "granted"),
      Effect.orElseSucceed(() => false)
    )
    : Effect.succeed(true)
