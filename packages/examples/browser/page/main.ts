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
const refusedLines = find("#refused [role=alert]", HTMLDivElement)

chooseFiles.addEventListener("click", () => filesInput.click())
find("#choose-folder", HTMLButtonElement).addEventListener("click", () => folderInput.click())

const showRefused = (refused: Intake.Intake["refused"]): void => {
  refusedBox.hidden = refused.length === 0
  refusedLines.replaceChildren(
    ...refused.slice(0, 5).map(({ message, name }) => {
      const line = document.createElement("p")
      const strong = document.createElement("strong")
      strong.textContent = Words.name(name)
      strong.dir = "auto"
      line.append(strong, ` was not added. ${message}`)
      return line
    })
  )
  if (refused.length > 5) refusedLines.append(`And ${refused.length - 5} more.`)
}
find("#refused button", HTMLButtonElement).addEventListener("click", () => {
  showRefused([])
  chooseFiles.focus()
})

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

const section = find("#queue", HTMLElement)
const numbers = find("#queue .numbers", HTMLParagraphElement)
const bar = find("#queue .bar", HTMLDivElement)
const lists = [
  { section, list: find("#queue ul", HTMLUListElement), of: "items" },
  { section: find("#unfinished", HTMLElement), list: find("#unfinished ul", HTMLUListElement), of: "unfinished" }
] as const
const rows = new Map<string, Row.Row>()

const showRows = (snapshot: UploadQueue.Snapshot): void => {
  const kept = new Set([...snapshot.items, ...snapshot.unfinished].map(({ id }) => id))
  for (const [id, row] of rows) {
    if (kept.has(id)) continue
    // keyboard users stay in the list
    const next = row.element.nextElementSibling ?? row.element.previousElementSibling
    const hadFocus = row.element.contains(document.activeElement)
    row.element.remove()
    rows.delete(id)
    if (hadFocus) (Array.from(rows.values()).find(({ element }) => element === next) ?? chooseFiles).focus()
  }
  for (const { list, of, section } of lists) {
    // nothing in a hidden section can be focused
    if (snapshot[of].length > 0) section.hidden = false
    for (const item of snapshot[of]) {
      const row = rows.get(item.id) ?? Row.make(item.id, { ...queue, giveFile })
      rows.set(item.id, row)
      row.update(item)
      if (row.element.parentElement === list) continue
      // and go along with a file that moves to the other list
      const hadFocus = row.element.contains(document.activeElement)
      list.append(row.element)
      if (hadFocus) row.focus()
    }
  }
  for (const { of, section } of lists) section.hidden = snapshot[of].length === 0
}

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
  const focused = buttons.find(({ button }) => button === document.activeElement)
  for (const { button, states } of buttons) button.hidden = !items.some(({ state }) => states.has(state))
  // such as from Pause all to Resume all
  if (focused?.button.hidden === true) (buttons.find(({ button }) => !button.hidden)?.button ?? chooseFiles).focus()
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
  const snapshot = queue.getSnapshot()
  const { totals } = snapshot
  showRows(snapshot)
  showButtons(snapshot.items)
  section.dataset["state"] = totals.state
  numbers.hidden = bar.hidden = totals.files === 0
  numbers.textContent = Words.unbroken(Words.totals(totals))
  Row.showBar(bar, Words.percent(totals), `${Words.percent(totals)} %, ${Words.totals(totals)}`)
  document.title = Words.title(totals)
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
