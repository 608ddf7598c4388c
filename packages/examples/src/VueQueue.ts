/**
 * A queue of uploads in Vue. A component rendered on a server is never
 * unmounted, so only a mounted one listens.
 */
import type { UploadQueue } from "@stevedore/browser"
import { onMounted, onUnmounted, shallowReadonly, shallowRef } from "vue"

export const useUploads = (queue: UploadQueue.UploadQueue) => {
  const snapshot = shallowRef(queue.getSnapshot())
  const update = () => {
    snapshot.value = queue.getSnapshot()
  }
  let stop = () => {}
  onMounted(() => {
    stop = queue.subscribe(update)
    // what has happened since the component was set up
    update()
  })
  onUnmounted(() => stop())
  return shallowReadonly(snapshot)
}
