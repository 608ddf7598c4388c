/**
 * A key-value store in IndexedDB.
 *
 * @since 0.1.0
 */
import * as PlatformError from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Database, DatabaseFailure } from "./internal/database.js"
import * as Databases from "./internal/database.js"

/**
 * Where the values are stored.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The name of the database, within the page's origin. Defaults to `stevedore`. */
  readonly database?: string | undefined
}

/**
 * The default name of the database.
 *
 * @since 0.1.0
 * @category constants
 */
export const defaultDatabase = "stevedore"

const failed = (method: string, key: string) => ({ name }: DatabaseFailure): PlatformError.PlatformError =>
  new PlatformError.SystemError({
    reason: name === "NotAllowedError" || name === "SecurityError" ? "PermissionDenied" : "Unknown",
    module: "KeyValueStore",
    method,
    pathOrDescriptor: key,
    description: name
  })

const textOf = (value: unknown): string | undefined =>
  Predicate.isString(value) ? value : value instanceof Uint8Array ? new TextDecoder().decode(value) : undefined

const bytesOf = (value: unknown): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : Predicate.isString(value) ? new TextEncoder().encode(value) : undefined

/** @internal */
export const over = (database: Database): KeyValueStore.KeyValueStore => {
  const read = (method: string, key: string): Effect.Effect<unknown, PlatformError.PlatformError> =>
    Effect.mapError(
      database.run("values", "readonly", (store): IDBRequest<unknown> => store.get(key)),
      failed(method, key)
    )
  return KeyValueStore.make({
    get: (key) => Effect.map(read("get", key), (value) => Option.fromNullable(textOf(value))),
    getUint8Array: (key) => Effect.map(read("getUint8Array", key), (value) => Option.fromNullable(bytesOf(value))),
    set: (key, value) =>
      Effect.asVoid(database.run("values", "readwrite", (store) => store.put(value, key))).pipe(
        Effect.mapError(failed("set", key))
      ),
    remove: (key) =>
      Effect.mapError(database.run("values", "readwrite", (store) => store.delete(key)), failed("remove", key)),
    clear: Effect.mapError(database.run("values", "readwrite", (store) => store.clear()), failed("clear", "")),
    size: Effect.mapError(database.run("values", "readonly", (store) => store.count()), failed("size", ""))
  })
}

/** @internal */
export const removeAll = (
  database: Database,
  prefix: string
): Effect.Effect<void, PlatformError.PlatformError> =>
  Effect.mapError(
    // "0" is the character after "/"
    database.run(
      "values",
      "readwrite",
      (store) => store.delete(IDBKeyRange.bound(`${prefix}/`, `${prefix}0`, false, true))
    ),
    failed("removeAll", prefix)
  )

/**
 * A store in IndexedDB. The database is opened on first use. If a page has no IndexedDB, or no room in it, each
 * operation fails with the browser's own name for the problem, such as `QuotaExceededError`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<KeyValueStore.KeyValueStore, never, Scope.Scope> =>
  Effect.map(Databases.make(options.database ?? defaultDatabase), over)

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
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<KeyValueStore.KeyValueStore> =>
  Layer.scoped(KeyValueStore.KeyValueStore, make(options))
