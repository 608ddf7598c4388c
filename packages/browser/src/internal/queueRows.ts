import type { Item, Snapshot } from "../UploadQueueModel.js"
import type { Entry, NamedAddition } from "./queueEntry.js"
import { entryOf } from "./queueEntry.js"
import * as Listeners from "./queueListeners.js"
import * as View from "./queueView.js"

/** The entries of a queue in the order of their coming, and what is told of them. */
export interface Rows extends Pick<Listeners.Listeners, "subscribe"> {
  readonly all: () => ReadonlyArray<Entry>
  readonly get: (id: string) => Entry | undefined
  readonly nextId: () => string
  readonly enter: (item: Item, addition: NamedAddition | undefined, unfinished: string | undefined) => void
  readonly drop: (id: string) => void
  readonly getSnapshot: () => Snapshot
  readonly publish: () => void
}

export const make = (): Rows => {
  const entries = new Map<string, Entry>()
  const listeners = Listeners.make()
  let snapshot = View.empty
  let made = 0
  const all = () => Array.from(entries.values())
  return {
    all,
    get: (id) => entries.get(id),
    nextId: () => `${++made}`,
    enter: (item, addition, unfinished) => entries.set(item.id, entryOf(item, addition, unfinished)),
    drop: (id) => entries.delete(id),
    subscribe: listeners.subscribe,
    getSnapshot: () => snapshot,
    publish: () => {
      const next = View.snapshotOf(snapshot, all().map(({ item }) => item))
      if (next === snapshot) return
      snapshot = next
      listeners.tell()
    }
  }
}
