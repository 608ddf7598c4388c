import * as Effect from "effect/Effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as PlatformError from "effect/PlatformError"
import type { Database, DatabaseFailure } from "./database.js"

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

const given = <A>(value: A | undefined): A | undefined => value

export const over = (database: Database): KeyValueStore.KeyValueStore =>
  KeyValueStore.make({
    ...forLedger(database),
    getUint8Array: (key) => Effect.map(read(database, "getUint8Array", key), (value) => given(bytesOf(value))),
    clear: asked(database, { method: "clear", mode: "readwrite" }, (store) => store.clear()),
    size: asked(database, { method: "size", mode: "readonly" }, (store) => store.count()),
    keys: Effect.map(
      asked(database, { method: "keys", mode: "readonly" }, (store) => store.getAllKeys()),
      (keys) => keys.map(String)
    )
  })
