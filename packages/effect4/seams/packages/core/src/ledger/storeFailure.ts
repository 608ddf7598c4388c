import type * as KeyValueStore from "effect/persistence/KeyValueStore"
import type * as Schema from "effect/Schema"

export type StoreError = KeyValueStore.KeyValueStoreError

export type RecordFailure = StoreError | Schema.SchemaError

const describe = (failure: StoreFailure): string => {
  if (failure._tag === "SchemaError") return "it contains an invalid record"
  return failure._tag === "Thrown" ? "its store threw instead of failing" : failure.message
}
