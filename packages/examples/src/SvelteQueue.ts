/** A queue of uploads as a Svelte store, which listens for as long as somebody looks at it. */
import type { UploadQueue } from "@stevedore/browser"
import { readable } from "svelte/store"

export const uploadsOf = (queue: UploadQueue.UploadQueue) =>
  readable(queue.getSnapshot(), (set) => {
    const update = () => set(queue.getSnapshot())
    // what happened while nobody looked
    update()
    return queue.subscribe(update)
  })
