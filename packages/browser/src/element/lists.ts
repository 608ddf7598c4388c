import type { Item, Snapshot } from "../queue/model.js"
import * as Words from "../words.js"
import { make } from "./dom.js"
import * as Row from "./row.js"

/** So many rows are made or changed at once: more would keep a page from answering to a click. */
const mostTouched = 50

/** So many rows are there whole; of more, only those that are near what is seen. */
const mostWhole = 30

/** One file: its whole row, or else its name in the place of it. */
interface Slot {
  readonly element: HTMLLIElement
  readonly file: Blob | undefined
  item: Item
  row: Row.Row | undefined
}

/** So many finished files are shown without being folded. */
const mostUnfolded = 3

/**
 * What an earlier visit left, and the others: failed ones first, then what moves, what is uploaded, the newest first, and
 * what waits. While `isHeld`, no row may move to another list. Of many rows, those that are left follow in later tasks.
 */
export const makeLists = (
  shared: Row.Rows,
  fileOf: (item: Item) => Blob | undefined,
  focusElsewhere: () => void
) => {
  const { words } = shared
  const list = () => make("ul")
  const [failed, moving, finished, unfinished] = [list(), list(), list(), list()]
  // a line each
  const waiting = make("ul", { class: "waiting" })
  const unfinishedTitle = Words.say(words, "unfinished")
  const left = make(
    "section",
    { id: "unfinished", part: "unfinished", "aria-label": unfinishedTitle, hidden: "" },
    make("h2", {}, unfinishedTitle),
    make("p", {}, Words.say(words, "unfinishedHint")),
    unfinished
  )
  const foldTitle = make("summary")
  const fold = make("details", { part: "finished", hidden: "" }, foldTitle, finished)
  let isFoldedByUser = false
  foldTitle.addEventListener("click", () => {
    isFoldedByUser = true
  })
  const rows = new Map<string, Slot>()
  // what all failed files have in common is said once, above them
  const common = make("p", { class: "error", part: "error", role: "alert", dir: "auto", hidden: "" })

  const showCommon = (items: ReadonlyArray<Item>): void => {
    const told = items.filter(({ state }) => state === "failed")
      .map((item) => Words.failureOf(words, item, shared.limits()))
    const [first = ""] = told
    const isCommon = told.length > 1 && told.every((one) => one === first)
    if (common.textContent !== first) common.textContent = first
    common.hidden = !isCommon
    failed.classList.toggle("alike", isCommon)
  }

  const listOf = ({ sent, state }: Item): HTMLUListElement => {
    if (state === "needs-file") return unfinished
    if (sent === 0 && (state === "ready" || state === "queued" || state === "paused" || state === "cancelled")) {
      return waiting
    }
    return state === "failed" ? failed : state === "completed" ? finished : moving
  }

  const removeOthers = (kept: ReadonlySet<string>): void => {
    for (const [id, row] of rows) {
      if (kept.has(id)) continue
      // keyboard users stay in the list
      const next = row.element.nextElementSibling ?? row.element.previousElementSibling
      const hadFocus = row.element.matches(":focus-within")
      near.unobserve(row.element)
      row.element.remove()
      rows.delete(id)
      if (!hadFocus) continue
      const others = Array.from(rows.values())
      const nearest = others.find(({ element }) => element === next)
        ?? others.find(({ element }) => element.checkVisibility())
      if (nearest?.row === undefined) focusElsewhere()
      else nearest.row.focus()
    }
  }

  const files = make("div", { class: "files" }, common, failed, moving, fold, waiting)
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      const slot = rows.get(target instanceof HTMLElement ? target.dataset["id"] ?? "" : "")
      if (slot === undefined || target.matches(":focus-within") || isIntersecting === (slot.row !== undefined)) continue
      slot.row = undefined
      if (isIntersecting) fill(slot)
      else target.replaceChildren(Words.nameOf(words, slot.item.name))
    }
  }, { root: files, rootMargin: "200px 0px" })

  const fill = (slot: Slot): void => {
    slot.row ??= Row.make(slot.element, slot.item, slot.file, shared)
    slot.row.update(slot.item)
  }

  const slotOf = (item: Item): Slot => {
    const element = make("li", { part: "row", "data-id": item.id })
    const slot: Slot = { element, file: fileOf(item), item, row: undefined }
    if (rows.size < mostWhole || item.state === "needs-file") fill(slot)
    else {
      element.append(Words.nameOf(words, item.name))
      near.observe(element)
    }
    rows.set(item.id, slot)
    return slot
  }

  const place = (row: Slot, list: HTMLUListElement): void => {
    if (row.element.parentElement === list) return
    const focused = row.element.querySelector<HTMLElement>(":focus")
    if (list === finished) list.prepend(row.element)
    else list.append(row.element)
    if (focused === null) return
    // the focus goes along, as far as it can be seen
    if (list === finished && !fold.open) return foldTitle.focus()
    focused.focus()
    if (!focused.matches(":focus")) row.row?.focus()
  }

  let shown: ReadonlyArray<Item> = []
  let mayNotMove = () => false
  let rest: ReturnType<typeof setTimeout> | undefined

  const showRows = (): void => {
    const isHeld = mayNotMove()
    let touched = 0
    rest = undefined
    for (const item of shown) {
      const known = rows.get(item.id)
      const list = listOf(item)
      const isPlaced = known !== undefined && (isHeld || known.element.parentElement === list)
      if (isPlaced && item === known.item) continue
      if (++touched > mostTouched) {
        rest = setTimeout(showRows)
        break
      }
      const slot = known ?? slotOf(item)
      slot.item = item
      slot.element.dataset["state"] = item.state
      slot.row?.update(item)
      if (!isPlaced) place(slot, list)
    }
    fold.hidden = finished.childElementCount === 0
    left.hidden = unfinished.childElementCount === 0
  }

  return {
    unfinished: left,
    files,
    show: (snapshot: Snapshot, isHeld: () => boolean): void => {
      shown = [...snapshot.items, ...snapshot.unfinished]
      mayNotMove = isHeld
      const { completed } = snapshot.totals
      // nothing in what is hidden can be focused
      fold.hidden = completed === 0
      if (snapshot.unfinished.length > 0) left.hidden = false
      if (!isFoldedByUser && !fold.matches(":focus-within")) fold.open = completed <= mostUnfolded
      foldTitle.textContent = Words.say(words, "finished", { count: completed })
      removeOthers(new Set(shown.map(({ id }) => id)))
      clearTimeout(rest)
      showRows()
      showCommon(snapshot.items)
    }
  }
}
