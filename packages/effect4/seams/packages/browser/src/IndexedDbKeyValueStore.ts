import * as Effect from "effect/Effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as PlatformError from "effect/PlatformError"
import type { Database, DatabaseFailure } from "./internal/database.js"

type StoreError = KeyValueStore.KeyValueStoreError

const failed = (method: string, key: string) => ({ name }: DatabaseFailure): StoreError => {
  const cause = PlatformError.systemError({
    _tag: name === "NotAllowedError" || name === "SecurityError" ? "PermissionDenied" : "Unknown",
    module: "KeyValueStore",
    method,
    pathOrDescriptor: key,
    description: name
  })
  return new KeyValueStore.KeyValueStoreError({ message: cause.message, method, key, cause })
}

export const forLedger = (database: Database): Pick<KeyValueStore.KeyValueStore, "get" | "set" | "remove"> => ({
  get: (key) => Effect.map(read(database, "get", key), textOf),
  set: (key, value) =>
    Effect.asVoid(asked(database, { method: "set", key, mode: "readwrite" }, (store) => store.put(value, key))),
  remove: (key) => asked(database, { method: "remove", key, mode: "readwrite" }, (store) => store.delete(key))
})

export const over = (database: Database): KeyValueStore.KeyValueStore =>
  KeyValueStore.make({
    ...forLedger(database),
    getUint8Array: (key) => Effect.map(read(database, "getUint8Array", key), bytesOf),
    clear: asked(database, { method: "clear", mode: "readwrite" }, (store) => store.clear()),
    size: asked(database, { method: "size", mode: "readonly" }, (store) => store.count()),
    keys: Effect.map(
      asked(database, { method: "keys", mode: "readonly" }, (store) => store.getAllKeys()),
      (keys) => keys.map(String)
    )
  })
