import type { PlatformError } from "@effect/platform/Error"
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"

/** Texts by key, in files. */
interface FileStore {
  readonly get: (key: string) => Effect.Effect<Option.Option<string>, PlatformError>
  readonly set: (key: string, value: string | Uint8Array) => Effect.Effect<void, PlatformError>
  readonly remove: (key: string) => Effect.Effect<void, PlatformError>
}

/** Such a store, as the ledger takes one. */
export const keyValueStore = (store: FileStore): Pick<KeyValueStore.KeyValueStore, "get" | "set" | "remove"> => store
