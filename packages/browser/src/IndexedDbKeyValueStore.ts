/** A key-value store in IndexedDB. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Databases from "./ledger/database.js"
import { over } from "./ledger/store.js"

/**
 * Where the values are stored.
 *
 * @category models
 */
export interface Options {
  /** The name of the database, within the page's origin. Defaults to `stevedore`. */
  readonly database?: string | undefined
}

/**
 * A store in IndexedDB. The database is opened on first use. If a page has no IndexedDB, or no room in it, each
 * operation fails with the browser's own name for the problem, such as `QuotaExceededError`.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<KeyValueStore.KeyValueStore, never, Scope.Scope> =>
  Effect.map(Databases.make(options.database), over)

/**
 * {@link make} as a layer, for anything in Effect that uses a `KeyValueStore`, such as the checkpoints of a walk.
 *
 * @example
 * import { KeyValueStore } from "@effect/platform"
 * import { IndexedDbKeyValueStore } from "@stevedore/browser"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(KeyValueStore.KeyValueStore, (store) => store.set("theme", "dark")).pipe(
 *   Effect.provide(IndexedDbKeyValueStore.layer({ database: "settings" }))
 * )
 *
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<KeyValueStore.KeyValueStore> =>
  Layer.scoped(KeyValueStore.KeyValueStore, make(options))
