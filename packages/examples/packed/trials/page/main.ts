// A user's page, as Vite builds it.
import { BrowserStevedore, UploadQueue } from "@stevedore/browser"

const queue = UploadQueue.make({ layer: BrowserStevedore.layer({ baseUrl: "/api" }) })
const input = document.querySelector("input")
const output = document.querySelector("output")

input?.addEventListener("change", () => queue.add(input.files))
queue.subscribe(() => {
  const names = queue.getSnapshot().items.map(({ result }) => result?.name ?? "")
  if (output !== null) output.textContent = names.join(", ")
})
