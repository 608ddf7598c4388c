/** A queue of uploads in Solid: called by a component, it listens until that component is gone. */
import type { UploadQueue } from "@stevedore/browser"
import { createSignal, onCleanup } from "solid-js"

export const useUploads = (queue: UploadQueue.UploadQueue) => {
  const [changed, setChanged] = createSignal(queue.getSnapshot())
  onCleanup(queue.subscribe(() => setChanged(queue.getSnapshot())))
  return () => {
    changed()
    // not the signal's value: another component's signal is set a moment later, and both have to show the same
    return queue.getSnapshot()
  }
}
