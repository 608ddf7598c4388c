import { BrowserStevedore, FileHandles, ScreenWakeLock, UnloadWarning, UploadQueue } from "@stevedore/browser"
import { Effect, Layer } from "effect"
import * as Intake from "./intake.js"
import * as Row from "./row.js"
import "./style.css"
import * as Words from "./words.js"

const find = <E extends HTMLElement>(selector: string, type: new() => E): E => {
  const element = document.querySelector(selector)
  if (!(element instanceof type)) throw new Error(`The page has no ${selector}`)
  return element
}

const queue = UploadQueue.make({
  // this page's own server: it has the service's token, the page does not
  layer: Layer.merge(BrowserStevedore.layer({ baseUrl: "/api" }), FileHandles.layer()),
  files: 3,
  during: Effect.zipRight(UnloadWarning.scoped, ScreenWakeLock.scoped)
})

const chooseFiles = find("#choose-files", HTMLButtonElement)
const filesInput = find("#files", HTMLInputElement)
const folderInput = find("#folder", HTMLInputElement)
const againInput = find("#again", HTMLInputElement)
const refusedBox = find("#refused", HTMLDivElement)

chooseFiles.addEventListener("click", () => filesInput.click())
find("#choose-folder", HTMLButtonElement).addEventListener("click", () => folderInput.click())

const showRefused = (refused: Intake.Intake["refused"]): void => {
  refusedBox.replaceChildren(
    ...refused.slice(0, 5).map(({ message, name }) => {
      const line = document.createElement("p")
      const strong = document.createElement("strong")
      strong.textContent = name
      strong.dir = "auto"
      line.append(strong, ` was not added. ${message}`)
      return line
    })
  )
  if (refused.length > 5) refusedBox.append(`And ${refused.length - 5} more.`)
}

Intake.listen(find("#drop", HTMLElement), [filesInput, folderInput], (intake) => {
  if (!Intake.isEmpty(intake)) showRefused([...intake.refused, ...queue.add(intake.additions).refused])
})

// the item that needs its file again: an earlier page left it unfinished, or its file has changed
let wanted: string | undefined
againInput.addEventListener("change", () => {
  const file = againInput.files?.item(0) ?? undefined
  if (wanted !== undefined && file !== undefined) queue.giveFile(wanted, file)
  againInput.value = ""
})
const giveFile = ({ id, kept }: UploadQueue.Item): void => {
  if (kept) return queue.allow(id)
  wanted = id
  againInput.click()
}

const list = (section: HTMLElement) => {
  const rows = new Map<string, Row.Row>()
  const [element] = section.getElementsByTagName("ul")
  return (items: ReadonlyArray<UploadQueue.Item>): void => {
    section.hidden = items.length === 0
    const kept = new Set(items.map(({ id }) => id))
    for (const [id, row] of rows) {
      if (kept.has(id)) continue
      // keyboard users stay in the list
      const next = row.element.nextElementSibling ?? row.element.previousElementSibling
      const hadFocus = row.element.contains(document.activeElement)
      row.element.remove()
      rows.delete(id)
      if (hadFocus) (Array.from(rows.values()).find(({ element }) => element === next) ?? chooseFiles).focus()
    }
    for (const item of items) {
      const row = rows.get(item.id) ?? Row.make(item.id, { ...queue, giveFile })
      if (!rows.has(item.id)) {
        rows.set(item.id, row)
        element?.append(row.element)
      }
      row.update(item)
    }
  }
}

const section = find("#queue", HTMLElement)
const numbers = find("#queue .numbers", HTMLParagraphElement)
const bar = find("#queue .bar", HTMLDivElement)
const showItems = list(section)
const showUnfinished = list(find("#unfinished", HTMLElement))

// cancelled items were not meant to be sent
const retryFailed = (): void => {
  for (const { id, state } of queue.getSnapshot().items) if (state === "failed") queue.retry(id)
}

const all = {
  "#pause-all": [() => queue.pause(), ["queued", "preparing", "uploading"]],
  "#resume-all": [() => queue.resume(), ["paused"]],
  "#retry-all": [retryFailed, ["failed"]],
  "#cancel-all": [() => queue.cancel(), ["queued", "preparing", "uploading", "paused", "finishing"]],
  "#clear": [() => queue.clear(), ["completed", "cancelled"]]
} as const

const buttons = Object.entries(all).map(([selector, [act, states]]) => {
  const button = find(selector, HTMLButtonElement)
  button.addEventListener("click", act)
  return { button, states: new Set<string>(states) }
})

const showButtons = (items: ReadonlyArray<UploadQueue.Item>): void => {
  for (const { button, states } of buttons) {
    const hide = !items.some(({ state }) => states.has(state))
    if (hide && button === document.activeElement) chooseFiles.focus()
    button.hidden = hide
  }
}

const announcements = find("#announcements", HTMLParagraphElement)
const announce = (): void => {
  const { totals } = queue.getSnapshot()
  const words = navigator.onLine
    ? Words.announcement(totals, Math.floor(Words.percent(totals) / 25))
    : Words.offline
  if (announcements.textContent !== words) announcements.textContent = words
}

const show = (): void => {
  const { items, totals, unfinished } = queue.getSnapshot()
  showItems(items)
  showUnfinished(unfinished)
  showButtons(items)
  section.dataset["state"] = totals.state
  numbers.hidden = bar.hidden = totals.files === 0
  numbers.textContent = Words.totals(totals)
  Row.showBar(bar, Words.percent(totals), `${Words.percent(totals)} %, ${Words.totals(totals)}`)
  document.title = totals.state === "uploading" ? `${Words.percent(totals)} % – Stevedore` : "Stevedore"
  announce()
}

queue.subscribe(show)
show()

const offline = find("#offline", HTMLParagraphElement)
offline.textContent = Words.offline
const showOnline = () => {
  offline.hidden = navigator.onLine
  announce()
}
addEventListener("online", showOnline)
addEventListener("offline", showOnline)
showOnline()
