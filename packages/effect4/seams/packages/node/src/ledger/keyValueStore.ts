import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import type { PlatformError } from "effect/PlatformError"
import { messageOf } from "../file/platformError.js"

const failure = (method: string, key: string) => (error: PlatformError): KeyValueStore.KeyValueStoreError =>
  new KeyValueStore.KeyValueStoreError({ message: messageOf(error), method, key, cause: error })

export const keyValueStore = (
  store: FileStore
): Pick<KeyValueStore.KeyValueStore, "get" | "set" | "remove"> => ({
  get: (key) => Effect.mapBoth(store.get(key), { onFailure: failure("get", key), onSuccess: Option.getOrUndefined }),
  set: (key, value) => Effect.mapError(store.set(key, value), failure("set", key)),
  remove: (key) => Effect.mapError(store.remove(key), failure("remove", key))
})
