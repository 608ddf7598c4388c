/** The ledger of a page's unfinished uploads, in IndexedDB, locked across tabs. */
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as IndexedDbKeyValueStore from "./IndexedDbKeyValueStore.js"
import * as Databases from "./ledger/database.js"
import * as Store from "./ledger/store.js"
import * as WebLock from "./ledger/webLock.js"

/**
 * Where the ledger is stored, and what it keeps.
 *
 * @category models
 */
export interface Options extends IndexedDbKeyValueStore.Options {
  /**
   * Whether part URLs are kept. They are the only way back into a session. Any script in the page's origin can read
   * them, and can write those parts for the three hours that they live. Without them, choosing the file again sends all
   * of it again, unless storage already had every part. Defaults to `true`.
   */
  readonly keepUrls?: boolean | undefined
}

// A part's receipt is written while the next part is being sent: if the tab dies before it is written, that one part is
// sent again. Every other operation of the ledger waits for the writes that have started.
const withoutWaiting = (ledger: UploadLedger.Service): Effect.Effect<UploadLedger.Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const writing = new Set<Fiber.RuntimeFiber<void>>()
    const written = Effect.suspend(() => Fiber.awaitAll(writing))
    yield* Effect.addFinalizer(() => written)
    return {
      ...ledger,
      find: (id) => Effect.zipRight(written, ledger.find(id)),
      begin: (record) => Effect.zipRight(written, ledger.begin(record)),
      receive: (record, receipt) =>
        Effect.map(Effect.forkDaemon(ledger.receive(record, receipt)), (fiber) => {
          writing.add(fiber)
          fiber.addObserver(() => writing.delete(fiber))
        }),
      completing: (record) => Effect.zipRight(written, ledger.completing(record)),
      forget: (record) => Effect.zipRight(written, ledger.forget(record)),
      unfinished: Effect.zipRight(written, ledger.unfinished)
    }
  })

const thirtyDays = 2_592_000_000

// A file that failed may never be chosen again, and whoever uses the browser next need not see its name.
const forgettingOld = (
  ledger: UploadLedger.Service,
  store: Parameters<typeof UploadLedger.make>[0]["store"]
): Effect.Effect<UploadLedger.Service> => {
  const forgetOld = Effect.gen(function*() {
    const before = (yield* Clock.currentTimeMillis) - thirtyDays
    const found = (yield* ledger.unfinished).filter(({ record }) => record.startedAt < before)
    if (found.length === 0) return
    const { forget } = yield* Effect.tryPromise(() => import("./ledger/oldUploads.js"))
    yield* forget(ledger, store, found, before)
  })
  return Effect.map(Effect.once(Effect.ignore(forgetOld)), (forget) => ({
    ...ledger,
    begin: (record) => Effect.zipRight(ledger.begin(record), forget)
  }))
}

/**
 * A ledger in IndexedDB, or in memory where there is none. Its failures are logged, and the upload continues, but cannot
 * be resumed later. Web Locks ensure that two tabs never drive the same upload. No part waits for the previous one to be
 * recorded.
 *
 * An upload that started more than 30 days ago is forgotten when a page starts its first upload, if it was as old a day before: a
 * clock may be wrong.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<UploadLedger.Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const name = options.database ?? Databases.defaultName
    const database = yield* Databases.make(name)
    const isKept = "indexedDB" in globalThis
    const store = isKept ? Store.forLedger(database) : Store.inMemory()
    const ledger = yield* UploadLedger.make({
      ...(isKept && { removeAll: (prefix) => Store.removeAll(database, prefix) }),
      store,
      lock: yield* WebLock.make(name),
      keepUrls: options.keepUrls ?? true
    })
    return yield* withoutWaiting(yield* forgettingOld(ledger, store))
  })

/**
 * {@link make} as a layer. `BrowserStevedore.layer` has it already.
 *
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.scoped(UploadLedger.UploadLedger, make(options))
