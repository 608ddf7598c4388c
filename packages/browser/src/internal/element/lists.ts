import type { Item, Snapshot } from "../../UploadQueueModel.js"
import * as Words from "../../words.js"
import { make } from "./dom.js"
import * as Row from "./row.js"

/** So many rows are made at once: more would keep a page from answering to a click. */
const mostMade = 50

/** So many finished files are shown without being folded. */
const mostUnfolded = 3

export interface Lists {
  /** What an earlier visit left. */
  readonly unfinished: HTMLElement
  /** The others: failed ones first, then what moves and what waits, and finished ones last, of these the newest first. */
  readonly files: HTMLElement
  /** `isHeld`: no row may move to another list. `again` is called if there are more rows to make. */
  readonly show: (snapshot: Snapshot, isHeld: boolean, again: () => void) => void
}

export const makeLists = (shared: Row.Rows, focusElsewhere: () => void): Lists => {
  const { words } = shared
  const list = () => make("ul")
  const [failed, moving, finished, unfinished] = [list(), list(), list(), list()]
  // a line each: they do not keep what moves out of sight
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
  const rows = new Map<string, Row.Row>()
  // what all failed files have in common is said once, above them
  const common = make("p", { class: "error", part: "error", role: "alert", hidden: "" })

  let isMakingMore = false
  const makeMore = (again: () => void): void => {
    if (isMakingMore) return
    isMakingMore = true
    setTimeout(() => {
      isMakingMore = false
      again()
    })
  }

  const showCommon = (items: ReadonlyArray<Item>): void => {
    const told = items.filter(({ state }) => state === "failed")
      .map((item) => Words.failureOf(words, item, shared.limits))
    const [first = ""] = told
    const isCommon = told.length > 1 && told.every((one) => one === first)
    if (common.textContent !== first) common.textContent = first
    common.hidden = !isCommon
    failed.classList.toggle("alike", isCommon)
  }

  const listOf = ({ sent, state }: Item): HTMLUListElement => {
    if (state === "needs-file") return unfinished
    if (state === "queued" && sent === 0) return waiting
    return state === "failed" ? failed : state === "completed" ? finished : moving
  }

  const removeOthers = (kept: ReadonlySet<string>): void => {
    for (const [id, row] of rows) {
      if (kept.has(id)) continue
      // keyboard users stay in the list
      const next = row.element.nextElementSibling ?? row.element.previousElementSibling
      const hadFocus = row.element.matches(":focus-within")
      row.element.remove()
      rows.delete(id)
      if (!hadFocus) continue
      const nearest = Array.from(rows.values()).find(({ element }) => element === next)
      if (nearest === undefined) focusElsewhere()
      else nearest.focus()
    }
  }

  const place = (row: Row.Row, list: HTMLUListElement): void => {
    if (row.element.parentElement === list) return
    const hadFocus = row.element.matches(":focus-within")
    if (list === finished) list.prepend(row.element)
    else list.append(row.element)
    if (!hadFocus) return
    // the focus goes along, as far as it can be seen
    if (list === finished && !fold.open) foldTitle.focus()
    else row.focus()
  }

  return {
    unfinished: left,
    files: make("div", { class: "files" }, common, failed, moving, waiting, fold),
    show: (snapshot, isHeld, again) => {
      const all = [...snapshot.items, ...snapshot.unfinished]
      const { completed } = snapshot.totals
      // nothing in what is hidden can be focused
      fold.hidden = completed === 0
      if (snapshot.unfinished.length > 0) left.hidden = false
      if (!isFoldedByUser && !fold.matches(":focus-within")) fold.open = completed <= mostUnfolded
      foldTitle.textContent = Words.say(words, "finished", { count: completed })
      removeOthers(new Set(all.map(({ id }) => id)))
      let made = 0
      for (const item of all) {
        const known = rows.get(item.id)
        if (known === undefined && ++made > mostMade) continue
        const row = known ?? Row.make(item, shared)
        rows.set(item.id, row)
        row.update(item)
        if (!isHeld || row.element.parentElement === null) place(row, listOf(item))
      }
      if (made > mostMade) makeMore(again)
      showCommon(snapshot.items)
      fold.hidden = finished.childElementCount === 0
      left.hidden = unfinished.childElementCount === 0
    }
  }
}
