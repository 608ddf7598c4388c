import type { Entry } from "./entry.js"
import * as Items from "./item.js"
import type { Snapshot } from "./model.js"

/** Calls a function of the page. An exception reaches the page's own handlers. */
export const call = (listener: () => void): void => {
  try {
    listener()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** The entries of a queue in the order of their coming, and what is told of them. */
export interface Rows {
  readonly subscribe: (listener: () => void) => () => void
  readonly all: () => ReadonlyArray<Entry>
  readonly get: (id: string) => Entry | undefined
  readonly nextId: () => string
  readonly enter: (entry: Entry) => void
  readonly drop: (id: string) => void
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
    enter: (entry) => entries.set(entry.item.id, entry),
    drop: (id) => entries.delete(id),
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
