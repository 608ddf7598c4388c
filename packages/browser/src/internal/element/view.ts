import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BrowserStevedore from "../../BrowserStevedore.js"
import type { Details, StevedoreUpload } from "../../ElementModel.js"
import * as FileHandles from "../../FileHandles.js"
import * as ScreenWakeLock from "../../ScreenWakeLock.js"
import * as UnloadWarning from "../../UnloadWarning.js"
import type { OwnedUploadQueue } from "../../UploadQueue.js"
import * as UploadQueue from "../../UploadQueue.js"
import type { Item, ItemState, Limits, Snapshot } from "../../UploadQueueModel.js"
import * as Words from "../../words.js"
import { english } from "../../words/english.js"
import type { Arrival } from "./arrivals.js"
import { adopt, button, icon, make } from "./dom.js"
import { intakeOf } from "./intake.js"
import * as Row from "./row.js"
import { style } from "./viewStyle.js"

/** The largest file of the standard profile. */
const largestFile = 10_000_000_000

/** So many finished files are shown without being folded. */
const mostUnfolded = 3

const mostRefused = 5

const numberIn = (host: HTMLElement, name: string): number | undefined => {
  const text = host.getAttribute(name) ?? ""
  return text.trim() === "" ? undefined : Number(text)
}

const limitsOf = (host: StevedoreUpload): Limits & { readonly size: number } => {
  const limits: Limits = {
    files: numberIn(host, "max-files"),
    size: numberIn(host, "max-size"),
    total: numberIn(host, "max-total"),
    accept: host.getAttribute("accept")?.split(",").map((wish) => wish.trim()).filter((wish) => wish !== ""),
    ...host.limits
  }
  return { ...limits, size: limits.size ?? largestFile }
}

const queueOf = (host: StevedoreUpload, limits: Limits): OwnedUploadQueue => {
  const layer = host.layer ?? Layer.merge(
    BrowserStevedore.layer({ baseUrl: host.getAttribute("base-url") ?? "/api" }),
    FileHandles.layer()
  )
  return UploadQueue.make({
    layer,
    files: numberIn(host, "files"),
    limits,
    upload: host.upload,
    during: Effect.zipRight(UnloadWarning.scoped, ScreenWakeLock.scoped)
  })
}

type Refused = Details["refused"]["refused"]

const tick = "M5 13l4 4L19 7"

export interface View {
  readonly queue: OwnedUploadQueue
  readonly take: (arrivals: ReadonlyArray<Arrival>) => Promise<void>
}

/** Everything below the place to drop. */
export const open = (host: StevedoreUpload, root: ShadowRoot): View => {
  const words = host.words ?? english
  const limits = limitsOf(host)
  const queue = queueOf(host, limits)
  /** The files that are being added, by name and size. */
  const arriving = new Map<string, Blob>()
  const say = (key: Words.MessageKey) => Words.say(words, key)
  const emit = <K extends keyof Details>(type: K, detail: Details[K]) =>
    host.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
  adopt(root, style)
  const all = root.getElementById("all") ?? root
  const chooseFiles = root.getElementById("choose-files")

  const announcements = make("p", { class: "unseen", id: "announcements", role: "status", "aria-live": "polite" })
  const tell = (text: string): void => {
    if (announcements.textContent !== text) announcements.textContent = text
  }

  // --- What was refused

  const refusedLines = make("div", { role: "alert" })
  const refusedBox = make(
    "div",
    { id: "refused", part: "refused", hidden: "" },
    refusedLines,
    button({ class: "icon", "aria-label": say("dismiss"), title: say("dismiss") }, () => {
      showRefused([])
      chooseFiles?.focus()
    }, icon("M6 6l12 12M18 6L6 18"))
  )
  const showRefused = (refused: Refused): void => {
    refusedBox.hidden = refused.length === 0
    refusedLines.replaceChildren(
      ...refused.slice(0, mostRefused).map(({ message, name }) => {
        const called = make("strong", { dir: "auto" }, Words.nameOf(words, name))
        const [before = "", after = ""] = say("notAdded").split("{name}")
        return make("p", {}, before, called, `${after} ${message}`)
      })
    )
    if (refused.length > mostRefused) {
      refusedLines.append(make("p", {}, Words.say(words, "andMore", { count: refused.length - mostRefused })))
    }
  }

  // --- A file that is needed again

  let wanted: string | undefined
  const again = make("input", { type: "file", id: "again", hidden: "" })
  again.addEventListener("change", () => {
    const file = again.files?.item(0) ?? undefined
    if (wanted !== undefined && file !== undefined) queue.giveFile(wanted, file)
    again.value = ""
  })
  const giveFile = ({ id, kept }: Item): void => {
    if (kept) return queue.allow(id)
    wanted = id
    again.click()
  }

  // --- The lists

  const section = (id: string, title: Words.MessageKey, ...children: ReadonlyArray<Node>) =>
    make("section", { id, part: id, "aria-label": say(title), hidden: "" }, ...children)
  const list = () => make("ul")
  const lists = { failed: list(), moving: list(), finished: list(), unfinished: list() }
  const unfinished = section(
    "unfinished",
    "unfinished",
    make("h2", {}, say("unfinished")),
    make("p", {}, say("unfinishedHint")),
    lists.unfinished
  )

  const actions: ReadonlyArray<
    readonly [id: string, key: Words.MessageKey, act: () => void, states: ReadonlyArray<ItemState>]
  > = [
    ["pause-all", "pauseAll", () => queue.pause(), ["queued", "preparing", "uploading"]],
    ["resume-all", "resumeAll", () => queue.resume(), ["paused"]],
    // cancelled items were not meant to be sent
    ["retry-all", "retryFailed", () => {
      for (const { id, state } of queue.getSnapshot().items) if (state === "failed") queue.retry(id)
    }, ["failed"]],
    ["cancel-all", "cancelAll", () => queue.cancel(), ["queued", "preparing", "uploading", "paused", "finishing"]],
    ["clear", "clearFinished", () => queue.clear(), ["completed", "cancelled"]]
  ]
  const buttons = actions.map(([id, key, act, states]) => ({ button: button({ id }, act, say(key)), states }))
  const buttonsOf = (isClear: boolean) =>
    buttons.flatMap(({ button }) => (button.id === "clear") === isClear ? [button] : [])

  const done = make(
    "div",
    { id: "done", part: "done", hidden: "" },
    icon(tick),
    make("slot", { name: "done" }, say("done"))
  )
  const numbers = make("p", { class: "numbers", part: "numbers" })
  const bar = Row.makeBar(say("allFiles"))
  const finishedTitle = make("summary")
  const finished = make("details", { part: "finished" }, finishedTitle, lists.finished)
  let isFoldedByUser = false
  finishedTitle.addEventListener("click", () => {
    isFoldedByUser = true
  })
  const whole = section(
    "queue",
    "yourFiles",
    done,
    make(
      "div",
      { class: "summary" },
      make("h2", {}, say("yourFiles")),
      numbers,
      bar,
      make("div", { class: "actions" }, ...buttonsOf(false)),
      ...buttonsOf(true)
    ),
    lists.failed,
    lists.moving,
    finished
  )

  const rows = new Map<string, Row.Row>()
  const shared: Row.Rows = {
    queue,
    words,
    limits,
    giveFile,
    fileOf: ({ name, size }) => arriving.get(`${size} ${name}`),
    linkOf: (item) => host.linkOf?.(item),
    announce: tell
  }
  const listOf = ({ state }: Item): HTMLUListElement => {
    if (state === "needs-file") return lists.unfinished
    return state === "failed" ? lists.failed : state === "completed" ? lists.finished : lists.moving
  }

  const showRows = (items: ReadonlyArray<Item>): void => {
    const kept = new Set(items.map(({ id }) => id))
    for (const [id, row] of rows) {
      if (kept.has(id)) continue
      // keyboard users stay in the list
      const next = row.element.nextElementSibling ?? row.element.previousElementSibling
      const hadFocus = row.element.matches(":focus-within")
      row.element.remove()
      rows.delete(id)
      const nearest = Array.from(rows.values()).find(({ element }) => element === next)
      if (hadFocus) (nearest ?? chooseFiles)?.focus()
    }
    for (const item of items) {
      const row = rows.get(item.id) ?? Row.make(item, shared)
      rows.set(item.id, row)
      row.update(item)
      const place = listOf(item)
      if (row.element.parentElement === place) continue
      // and go along with a file that moves to another list
      const hadFocus = row.element.matches(":focus-within")
      place.append(row.element)
      if (hadFocus) row.focus()
    }
  }

  const showButtons = (items: ReadonlyArray<Item>): void => {
    const focused = buttons.find(({ button }) => button.matches(":focus"))
    for (const { button, states } of buttons) button.hidden = !items.some(({ state }) => states.includes(state))
    // such as from Pause all to Resume all
    if (focused?.button.hidden === true) (buttons.find(({ button }) => !button.hidden)?.button ?? chooseFiles)?.focus()
  }

  const offline = make("p", { id: "offline", part: "offline", hidden: "" })

  const announce = ({ totals }: Snapshot): void => {
    const isOffline = !navigator.onLine
    offline.hidden = !isOffline
    const ways = totals.state === "uploading" ? "offline" : "offlineIdle"
    if (isOffline) offline.textContent = say(ways)
    tell(isOffline ? say(ways) : Words.announcement(words, totals))
  }

  let before: Snapshot = queue.getSnapshot()

  const emitChanges = (now: Snapshot): void => {
    const known = new Map(before.items.map((item) => [item.id, item.state]))
    for (const item of now.items) {
      const { state } = item
      if ((state === "completed" || state === "failed") && known.get(item.id) !== state) emit(state, { item })
    }
    if (before.totals.state === "uploading" && now.totals.state !== "uploading") emit("idle", { totals: now.totals })
  }

  const show = (): void => {
    const snapshot = queue.getSnapshot()
    const { items, totals } = snapshot
    const isDone = totals.state === "completed"
    // nothing in a hidden section can be focused
    if (items.length > 0) whole.hidden = false
    if (snapshot.unfinished.length > 0) unfinished.hidden = false
    finished.open = finished.open || (!isFoldedByUser && totals.completed <= mostUnfolded)
    if (!isFoldedByUser && totals.completed > mostUnfolded) finished.open = false
    showRows([...items, ...snapshot.unfinished])
    showButtons(items)
    whole.hidden = items.length === 0
    unfinished.hidden = snapshot.unfinished.length === 0
    if (all instanceof HTMLElement) all.classList.toggle("compact", !whole.hidden || !unfinished.hidden)
    finished.hidden = totals.completed === 0
    finishedTitle.textContent = Words.say(words, "finished", { count: totals.completed })
    done.hidden = !isDone
    whole.dataset["state"] = totals.state
    for (const element of whole.getElementsByClassName("summary")) {
      if (element instanceof HTMLElement) element.dataset["state"] = totals.state
    }
    numbers.hidden = totals.files === 0
    bar.hidden = totals.files === 0 || isDone
    numbers.textContent = Row.unbroken(Words.totals(words, totals))
    Row.showBar(bar, totals, `${Words.percentage(words, totals)}, ${Words.totals(words, totals)}`)
    announce(snapshot)
    emitChanges(snapshot)
    before = snapshot
  }

  all.append(refusedBox, unfinished, whole, offline, again, announcements)
  queue.subscribe(show)
  show()
  const showOnline = () => announce(queue.getSnapshot())
  addEventListener("online", showOnline)
  addEventListener("offline", showOnline)

  return {
    queue,
    take: async (arrivals) => {
      const intake = await intakeOf(arrivals)
      if (intake.additions.length + intake.refused.length === 0) return
      for (const { file, name = file.webkitRelativePath || file.name } of intake.additions) {
        arriving.set(`${file.size} ${name}`, file)
      }
      const { ids, refused } = queue.add(intake.additions)
      arriving.clear()
      const told: Refused = [
        ...intake.refused.map(({ name, reason }) => ({ name, message: Words.text(words, words.reasons[reason]) })),
        ...refused.map(({ name, reason, size }) => ({ name, message: Words.refusal(words, { reason, size }, limits) }))
      ]
      showRefused(told)
      if (told.length > 0) emit("refused", { refused: told })
      const accepted = new Set(ids)
      if (ids.length > 0) emit("added", { items: queue.getSnapshot().items.filter(({ id }) => accepted.has(id)) })
    }
  }
}
