import { entryOf } from "./entry.js"
import type { Entry, NamedAddition } from "./entry.js"
import * as Items from "./item.js"
import type { Item, Snapshot } from "./model.js"

const report = (error: unknown): void => {
  if ("reportError" in globalThis) reportError(error)
  else {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** Calls a function of the page. An exception reaches the page's own handlers. */
export const call = (listener: () => void): void => {
  try {
    listener()
  } catch (error) {
    report(error)
  }
}

/** The entries of a queue in the order of their coming, and what is told of them. */
export interface Rows {
  readonly subscribe: (listener: () => void) => () => void
  readonly all: () => ReadonlyArray<Entry>
  readonly get: (id: string) => Entry | undefined
  readonly nextId: () => string
  readonly enter: (item: Item, addition: NamedAddition | undefined, unfinished: string | undefined) => void
  readonly drop: (id: string) => void
  readonly restore: (entry: Entry) => void
  readonly getSnapshot: () => Snapshot
  readonly publish: () => void
}

export const make = (): Rows => {
  const entries = new Map<string, Entry>()
  const listeners = new Set<() => void>()
  let snapshot = Items.empty
  let made = 0
  const all = () => Array.from(entries.values())
  return {
    all,
    get: (id) => entries.get(id),
    nextId: () => `${++made}`,
    enter: (item, addition, unfinished) => entries.set(item.id, entryOf(item, addition, unfinished)),
    drop: (id) => entries.delete(id),
    restore: (entry) => entries.set(entry.item.id, entry),
    subscribe: (listener) => {
      // every subscription is separate, even for the same function
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
    getSnapshot: () => snapshot,
    publish: () => {
      const next = Items.snapshotOf(snapshot, all().map(({ item }) => item))
      if (next === snapshot) return
      snapshot = next
      Array.from(listeners).forEach(call)
    }
  }
}
