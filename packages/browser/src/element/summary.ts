import type { Item, ItemState, Snapshot, UploadQueue } from "../queue/model.js"
import * as Words from "../words.js"
import { makeBar, tones, unbroken } from "./bar.js"
import { button, icon, make } from "./dom.js"
import { isFinal } from "./row.js"

type Action = readonly [id: string, key: Words.MessageKey, act: () => void, fits: (item: Item) => boolean]

const inState = (...states: ReadonlyArray<ItemState>) => ({ state }: Item) => states.includes(state)

const isToRetry = (item: Item): boolean => item.state === "failed" && !isFinal(item)

/** What can be done with all files. The first that fits stands before the others. */
const actionsOf = (queue: UploadQueue, isInForm: () => boolean): ReadonlyArray<Action> => [
  ["start-all", "uploadFiles", () => queue.resume(), inState("ready")],
  ["resume-all", "resumeAll", () => queue.resume(), inState("paused")],
  // cancelled items were not meant to be sent
  ["retry-all", "retryFailed", () => {
    for (const item of queue.getSnapshot().items) if (isToRetry(item)) queue.retry(item.id)
  }, isToRetry],
  ["pause-all", "pauseAll", () => queue.pause(), inState("queued", "preparing", "uploading")],
  // of what is uploaded, a form has the value
  ["clear", "clearFinished", () => queue.clear(), (item) => !isInForm() && inState("completed", "cancelled")(item)],
  ["cancel-all", "cancelAll", () => queue.cancel(), inState("queued", "preparing", "uploading", "paused", "finishing")]
]

const isVisible = (element: Element): boolean => element.getClientRects().length > 0

/** What can be done with all files: one button, and the others beside it, or in a menu where there is little room. */
const makeActions = (
  queue: UploadQueue,
  words: Words.Words,
  focusElsewhere: () => void,
  isInForm: () => boolean
) => {
  const actions = actionsOf(queue, isInForm).map(([id, key, act, fits]) => ({ key, fits, button: button({ id }, act) }))
  const label = Words.say(words, "moreActions")
  const toggle = button(
    { id: "more", class: "icon", "aria-label": label, title: label, "aria-controls": "menu", "aria-expanded": "false" },
    () => open(toggle.ariaExpanded === "false"),
    icon("M5 12h.01M12 12h.01M19 12h.01")
  )
  const menu = make("div", { id: "menu" }, ...actions.map(({ button }) => button))
  const open = (isOpen: boolean): void => {
    if (!isOpen && menu.matches(":focus-within") && isVisible(toggle)) toggle.focus()
    toggle.ariaExpanded = `${isOpen}`
  }
  const element = make("div", { class: "actions" }, toggle, menu)
  menu.addEventListener("click", () => open(false))
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || toggle.ariaExpanded === "false") return
    // it closes this, and not what is around it
    event.preventDefault()
    event.stopPropagation()
    open(false)
  })
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) open(false)
  })

  /** The first stands outside of the menu, and no other. */
  const lead = (first: HTMLButtonElement | undefined): void => {
    const before = element.firstElementChild
    if (before === (first ?? toggle)) return
    const focused = actions.find(({ button }) => button.matches(":focus"))
    menu.replaceChildren(...actions.flatMap(({ button }) => button === first ? [] : [button]))
    element.replaceChildren(...first === undefined ? [] : [first], toggle, menu)
    focused?.button.focus()
  }

  return {
    element,
    show: (items: ReadonlyArray<Item>): void => {
      const focused = [...actions.map(({ button }) => button), toggle].find((button) => button.matches(":focus"))
      for (const { button, fits, key } of actions) {
        const count = items.filter(fits).length
        button.hidden = count === 0
        button.textContent = Words.say(words, key, { count })
      }
      const shown = actions.filter(({ button }) => !button.hidden)
      const [first] = shown
      for (const { button } of actions) {
        button.classList.toggle("primary", button === first?.button && /^(start|resume|retry)/.test(button.id))
      }
      lead(first?.button)
      toggle.hidden = shown.length < 2
      // there is always room for one
      if (focused === undefined || isVisible(focused)) return
      // such as from Pause all to Resume all
      const next = first?.button
      if (next === undefined) focusElsewhere()
      else next.focus()
    }
  }
}

/** Everything above the list: all files together, and what can be done with them. */
export const makeSummary = (
  queue: UploadQueue,
  words: Words.Words,
  focusElsewhere: () => void,
  isInForm: () => boolean
) => {
  const title = make("h2", {}, Words.say(words, "yourFiles"))
  const done = make(
    "div",
    { id: "done", part: "done", hidden: "" },
    icon("M5 13l4 4L19 7"),
    make("slot", { name: "done" }, Words.say(words, "done"))
  )
  const actions = makeActions(queue, words, focusElsewhere, isInForm)
  const bar = makeBar(Words.say(words, "allFiles"))
  const numbers = make("p", { class: "numbers", part: "numbers" })
  const element = make(
    "div",
    { class: "summary", part: "summary" },
    title,
    done,
    actions.element,
    bar.element,
    numbers
  )
  return {
    element,
    show: ({ items, totals }: Snapshot): void => {
      actions.show(items)
      const isDone = totals.state === "completed"
      element.dataset["state"] = totals.state
      title.hidden = isDone
      done.hidden = !isDone
      bar.element.hidden = numbers.hidden = totals.files === 0 || isDone
      const told = Words.totals(words, totals)
      const percentage = Words.percentage(words, totals)
      numbers.textContent = unbroken(told)
      bar.show(totals, percentage, `${percentage}, ${told}`)
      bar.element.title = tones(words, totals)
    }
  }
}
