/**
 * The ledger of unfinished uploads of a page, in IndexedDB, locked over all tabs.
 *
 * @since 0.1.0
 */
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as IndexedDbKeyValueStore from "./IndexedDbKeyValueStore.js"
import * as Databases from "./internal/database.js"
import * as WebLock from "./internal/webLock.js"

/**
 * Where the ledger lies, and what it keeps.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends IndexedDbKeyValueStore.Options {
  /**
   * Whether part URLs are kept: they are the only way back into a session. Whatever runs in the page's origin can read
   * them, and for the three hours that they live can write those parts. Without them an upload that is chosen again
   * sends everything again, unless all of it was in storage already. Omitted: yes.
   */
  readonly keepUrls?: boolean | undefined
}

// A part's receipt is written while the next part goes up: one that is lost with the tab is a part that is sent again.
// Whatever else is asked of the ledger comes after what was begun.
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

/**
 * A ledger in IndexedDB. Whatever goes wrong with it is logged, and the upload goes on without a way back. Web Locks see
 * to it that two tabs never drive one upload. No part waits until the one before is written down.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<UploadLedger.Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const name = options.database ?? IndexedDbKeyValueStore.defaultDatabase
    const database = yield* Databases.make(name)
    const ledger = yield* UploadLedger.make({
      store: IndexedDbKeyValueStore.over(database),
      removeAll: (prefix) => IndexedDbKeyValueStore.removeAll(database, prefix),
      lock: yield* WebLock.make(name),
      keepUrls: options.keepUrls ?? true
    })
    return yield* withoutWaiting(ledger)
  })

/**
 * {@link make} as a layer. `BrowserStevedore.layer` has it already.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.scoped(UploadLedger.UploadLedger, make(options))
