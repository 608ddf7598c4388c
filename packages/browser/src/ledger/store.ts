import * as PlatformError from "@effect/platform/Error"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Database, DatabaseFailure } from "./database.js"

type StoreError = PlatformError.PlatformError

const failed = (method: string, key: string) => ({ name }: DatabaseFailure): StoreError =>
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

const asked = <A>(
  database: Database,
  { key = "", method, mode }: {
    readonly method: string
    readonly key?: string
    readonly mode: "readonly" | "readwrite"
  },
  request: (store: IDBObjectStore) => IDBRequest<A>
): Effect.Effect<A, StoreError> => Effect.mapError(database.run("values", mode, request), failed(method, key))

const read = (database: Database, method: string, key: string): Effect.Effect<unknown, StoreError> =>
  asked(database, { method, key, mode: "readonly" }, (store): IDBRequest<unknown> => store.get(key))

/** As a store gives what it may not have. */
const given = <A>(value: A | undefined): Option.Option<A> => Option.fromNullable(value)

/** What a ledger needs: a page that only uploads does not load the rest of a `KeyValueStore`. */
export const forLedger = (database: Database): Pick<KeyValueStore.KeyValueStore, "get" | "set" | "remove"> => ({
  get: (key) => Effect.map(read(database, "get", key), (value) => given(textOf(value))),
  set: (key, value) =>
    Effect.asVoid(asked(database, { method: "set", key, mode: "readwrite" }, (store) => store.put(value, key))),
  remove: (key) => asked(database, { method: "remove", key, mode: "readwrite" }, (store) => store.delete(key))
})

/** The same where there is no IndexedDB: in memory. */
export const inMemory = (): ReturnType<typeof forLedger> => {
  const values = new Map<string, unknown>()
  return {
    get: (key) => Effect.sync(() => given(textOf(values.get(key)))),
    set: (key, value) => Effect.sync(() => void values.set(key, value)),
    remove: (key) => Effect.sync(() => void values.delete(key))
  }
}

/** A store over a database. */
export const over = (database: Database): KeyValueStore.KeyValueStore =>
  KeyValueStore.make({
    ...forLedger(database),
    getUint8Array: (key) => Effect.map(read(database, "getUint8Array", key), (value) => given(bytesOf(value))),
    clear: asked(database, { method: "clear", mode: "readwrite" }, (store) => store.clear()),
    size: asked(database, { method: "size", mode: "readonly" }, (store) => store.count())
  })

/** Removes the keys below a prefix. */
export const removeAll = (database: Database, prefix: string): Effect.Effect<void, StoreError> =>
  asked(
    database,
    { method: "removeAll", key: prefix, mode: "readwrite" },
    // "0" is the character after "/"
    (store) => store.delete(IDBKeyRange.bound(`${prefix}/`, `${prefix}0`, false, true))
  )
