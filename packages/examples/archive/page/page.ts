import { BrowserStevedore, UploadQueue } from "@stevedore/browser"

const queue = UploadQueue.make({
  layer: BrowserStevedore.layer({ baseUrl: "/uploads" })
})

const element = <E extends HTMLElement>(of: string) => {
  const found = document.querySelector<E>(of)
  if (found === null) throw new Error(`The page has no ${of}`)
  return found
}

const row = (text: string) => {
  const item = document.createElement("li")
  item.textContent = text
  return item
}

const showRecordings = async () => {
  const response = await fetch("/recordings")
  const recordings: ReadonlyArray<{ title: string }> = await response.json()
  element("#recordings").replaceChildren(
    ...recordings.map(({ title }) => row(title))
  )
}

const input = element<HTMLInputElement>("input")
input.onchange = () => queue.add(input.files)

let completed = 0
queue.subscribe(() => {
  const { items } = queue.getSnapshot()
  element("#uploads").replaceChildren(
    ...items.map(({ error, name, sent, size, state }) =>
      row(error?.message ?? `${name}: ${state}, ${sent} of ${size} bytes`)
    )
  )
  const now = items.filter(({ state }) => state === "completed").length
  if (now > completed) void showRecordings()
  completed = now
})

// here, everybody who opens the page is Ada
document.cookie = "user=Ada; SameSite=Strict"
void showRecordings()
