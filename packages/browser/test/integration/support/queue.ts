/** A queue in a page. */
import type { UploadQueue } from "@stevedore/browser"
import { Effect } from "effect"
import { inPage, type Tab, untilHolds } from "./engine.js"
import type { QueuePageApi } from "./queuePage.js"

export const start = (page: Tab, options: Parameters<QueuePageApi["start"]>[0]): Effect.Effect<void> =>
  inPage(page, (options) => window.queue.start(options), options)

export const act = (page: Tab, action: Parameters<QueuePageApi["act"]>[0]): Effect.Effect<void> =>
  inPage(page, (action) => window.queue.act(action), action)

export const add = (page: Tab, path: string): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.promise(() => page.choose(path)),
    inPage(page, () => void window.queue.addChosen(), null)
  )

export const addOwn = (page: Tab, name: string): Effect.Effect<void> =>
  inPage(page, (name) => window.queue.addOwn(name), name)

export const give = (page: Tab, { id }: UploadQueue.Item, path: string): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.promise(() => page.choose(path)),
    inPage(page, (id) => window.queue.giveChosen(id), id)
  )

export const allow = (page: Tab, { id }: UploadQueue.Item): Effect.Effect<void> =>
  inPage(page, (id) => window.queue.allow(id), id)

export const snapshot = (page: Tab): Effect.Effect<UploadQueue.Snapshot> =>
  inPage(page, () => window.queue.snapshot(), null)

export const asks = (page: Tab): Effect.Effect<boolean> => inPage(page, () => window.queue.asks(), null)

/** The snapshot of the queue once something holds of it, or it is clear that it never will. */
export const until = (
  page: Tab,
  holds: (snapshot: UploadQueue.Snapshot) => boolean
): Effect.Effect<UploadQueue.Snapshot> => untilHolds(snapshot(page), holds)

/** Until all items, and at least so many, are in this state. */
export const untilAll = (
  page: Tab,
  state: UploadQueue.ItemState,
  count = 1
): Effect.Effect<UploadQueue.Snapshot> =>
  until(page, ({ items }) => items.length >= count && items.every((item) => item.state === state))

/** An upload that an earlier page left, once it is offered. */
export const left = (page: Tab): Effect.Effect<UploadQueue.Item> =>
  Effect.flatMap(
    until(page, ({ unfinished }) => unfinished.length > 0),
    ({ unfinished: [item] }) => Effect.orDie(Effect.fromNullable(item))
  )
