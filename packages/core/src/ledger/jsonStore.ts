import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** All that a ledger needs of a key-value store: a page need not load the rest. */
export type TextStore = Pick<KeyValueStore.KeyValueStore, "get" | "set" | "remove">

/** Values in a store of texts. */
export const jsonStore = <A>(store: TextStore, json: Schema.Schema<A, string>) => {
  const decode = Schema.decode(json)
  const encode = Schema.encode(json)
  return {
    get: (key: string) => Effect.flatMap(store.get(key), Effect.transposeMapOption((text) => decode(text))),
    set: (key: string, value: A) => Effect.flatMap(encode(value), (text) => store.set(key, text))
  }
}
