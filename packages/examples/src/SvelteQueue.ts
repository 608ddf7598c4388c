/** A queue of uploads as a Svelte store, which listens while it is read. */
import type { UploadQueue } from "@stevedore/browser"
import { readable } from "svelte/store"

export const uploadsOf = (queue: UploadQueue.UploadQueue) =>
  readable(queue.getSnapshot(), (set) => {
    const update = () => set(queue.getSnapshot())
    // what happened while it had no subscribers
    update()
    return queue.subscribe(update)
  })
