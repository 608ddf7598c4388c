/** A queue of uploads in Solid. It listens until its component is disposed. */
import type { UploadQueue } from "@stevedore/browser"
import { createSignal, onCleanup } from "solid-js"

export const useUploads = (queue: UploadQueue.UploadQueue) => {
  const [changed, setChanged] = createSignal(queue.getSnapshot())
  onCleanup(queue.subscribe(() => setChanged(queue.getSnapshot())))
  return () => {
    changed()
    // not the signal's value: another component's signal is set a moment
    // later, and both must show the same state
    return queue.getSnapshot()
  }
}
