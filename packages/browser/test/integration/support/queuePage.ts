// What runs in a page with a queue: the tests drive it through `window.queue`.
import { BrowserStevedore, FileHandles, ScreenWakeLock, UnloadWarning, UploadQueue } from "@stevedore/browser"
import { RetryPolicy } from "@stevedore/core"
import { Effect, Layer } from "effect"

interface Wishes extends Pick<UploadQueue.Options, "files" | "upload"> {
  readonly attempts?: number
}

let queue: UploadQueue.OwnedUploadQueue | undefined

const theQueue = (): UploadQueue.OwnedUploadQueue => {
  if (queue === undefined) throw new Error("no queue was started")
  return queue
}

const chosen = (): ReadonlyArray<File> => Array.from(document.querySelector("input")?.files ?? [])

export const api = {
  start: ({ attempts, ...options }: Wishes): void => {
    queue = UploadQueue.make({
      ...options,
      layer: Layer.merge(BrowserStevedore.layer({ baseUrl: "/api" }), FileHandles.layer()).pipe(
        Layer.provide(RetryPolicy.layer({ base: "50 millis", cap: "500 millis", attempts }))
      ),
      during: Effect.zipRight(UnloadWarning.scoped, ScreenWakeLock.scoped)
    })
  },
  act: (action: "pause" | "resume" | "cancel" | "retry"): void => theQueue()[action](),
  addChosen: (): UploadQueue.Added => theQueue().add(chosen()),
  giveChosen: (id: string): void => chosen().forEach((file) => theQueue().giveFile(id, file)),
  allow: (id: string): void => theQueue().allow(id),
  /** Adds a file of the page's own, with its handle. */
  addOwn: async (name: string): Promise<void> => {
    const folder = await navigator.storage.getDirectory()
    const handle = await folder.getFileHandle(name, { create: true })
    const writing = await handle.createWritable()
    await writing.truncate(18 * 1024 * 1024)
    await writing.close()
    theQueue().add([{ file: await handle.getFile(), handle }])
  },
  snapshot: (): UploadQueue.Snapshot => theQueue().getSnapshot(),
  /** Whether the browser would ask before the page is left. */
  asks: (): boolean => !dispatchEvent(new Event("beforeunload", { cancelable: true }))
}

export type QueuePageApi = typeof api

declare global {
  interface Window {
    readonly queue: QueuePageApi
  }
}
