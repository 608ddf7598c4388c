import "@stevedore/browser/element"
import type { UploadQueue } from "@stevedore/browser"

const upload = document.querySelector("stevedore-upload")

const news = { idle: "", ready: "", paused: "Paused", completed: "Uploaded", failed: "Failed" }

/** The title of the tab, for users who have gone to another one. */
const title = ({ sent, size, state }: UploadQueue.Totals): string => {
  const told = state === "uploading" ? `${size === 0 ? 0 : Math.floor((100 * sent) / size)} %` : news[state]
  return told === "" ? "Stevedore" : `${told} – Stevedore`
}

upload?.addEventListener("added", () => {
  upload.queue?.subscribe(() => {
    const { totals } = upload.queue?.getSnapshot() ?? {}
    if (totals !== undefined) document.title = title(totals)
  })
}, { once: true })
