import type * as KeyValueStore from "effect/persistence/KeyValueStore"
import type { PlatformError } from "effect/PlatformError"
import type * as Schema from "effect/Schema"

export type StoreError = KeyValueStore.KeyValueStoreError | PlatformError

export type RecordFailure = StoreError | Schema.SchemaError

const describe = (failure: StoreFailure): string => {
  if (failure._tag === "SchemaError") return "it contains an invalid record"
  if (failure._tag === "PlatformError" && failure.cause instanceof Error) {
    return `${failure.message}: ${failure.cause.message}`
  }
  return failure._tag === "Thrown" ? "its store threw instead of failing" : failure.message
}
