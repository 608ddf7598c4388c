/** A queue of uploads in React. Its state outlives every view of it. */
import type { UploadQueue } from "@stevedore/browser"
import { useSyncExternalStore } from "react"

interface Props {
  readonly queue: UploadQueue.UploadQueue
}

const Upload = (
  { item, queue }: Props & { readonly item: UploadQueue.Item }
) => (
  <li>
    {item.name}: {item.state}
    {item.state === "uploading" && (
      <>
        <progress aria-label={item.name} value={item.sent} max={item.size} />
        <button onClick={() => queue.pause(item.id)}>Pause {item.name}</button>
      </>
    )}
    {item.state === "paused" && (
      <button onClick={() => queue.resume(item.id)}>Resume {item.name}</button>
    )}
    {item.state === "failed" && (
      <button onClick={() => queue.retry(item.id)}>
        Try {item.name} again
      </button>
    )}
    {item.error && <p role="alert">{item.error.message}</p>}
  </li>
)

export const Uploads = ({ queue }: Props) => {
  const { items, totals } = useSyncExternalStore(
    queue.subscribe,
    queue.getSnapshot,
    queue.getSnapshot
  )
  return (
    <section aria-label="Uploads">
      <input
        type="file"
        aria-label="Files"
        multiple
        onChange={({ currentTarget }) => {
          queue.add(currentTarget.files)
          // so that the same file can be chosen again
          currentTarget.value = ""
        }}
      />
      <progress
        aria-label="All files"
        value={totals.sent}
        max={Math.max(1, totals.size)}
      />
      <ul>
        {items.map((item) => (
          <Upload
            key={item.id}
            item={item}
            queue={queue}
          />
        ))}
      </ul>
    </section>
  )
}
