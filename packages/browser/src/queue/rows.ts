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

export type Rows = ReturnType<typeof make>

/** The entries of a queue in the order of their coming, and what is told of them. */
export const make = () => {
  const entries = new Map<string, Entry>()
  const listeners = new Set<() => void>()
  let snapshot = Items.empty
  let made = 0
  const all = (): ReadonlyArray<Entry> => Array.from(entries.values())
  return {
    all,
    get: (id: string) => entries.get(id),
    nextId: () => `${++made}`,
    enter: (entry: Entry) => entries.set(entry.item.id, entry),
    drop: (id: string) => entries.delete(id),
    subscribe: (listener: () => void) => {
      // every subscription is separate, even for the same function
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
    getSnapshot: (): Snapshot => snapshot,
    publish: (): void => {
      const next = Items.snapshotOf(snapshot, all().map(({ item }) => item))
      if (next === snapshot) return
      snapshot = next
      Array.from(listeners).forEach(call)
    }
  }
}
