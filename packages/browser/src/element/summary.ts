import type { Item, ItemState, Snapshot, UploadQueue } from "../queue/model.js"
import * as Words from "../words.js"
import { makeBar, tones, unbroken } from "./bar.js"
import { button, icon, make } from "./dom.js"

type Action = readonly [id: string, key: Words.MessageKey, act: () => void, states: ReadonlyArray<ItemState>]

const actionsOf = (
  queue: UploadQueue
): { readonly first: ReadonlyArray<Action>; readonly more: ReadonlyArray<Action> } => ({
  first: [
    ["pause-all", "pauseAll", () => queue.pause(), ["queued", "preparing", "uploading"]],
    ["resume-all", "resumeAll", () => queue.resume(), ["paused"]],
    // cancelled items were not meant to be sent
    ["retry-all", "retryFailed", () => {
      for (const { id, state } of queue.getSnapshot().items) if (state === "failed") queue.retry(id)
    }, ["failed"]]
  ],
  more: [
    ["clear", "clearFinished", () => queue.clear(), ["completed", "cancelled"]],
    ["cancel-all", "cancelAll", () => queue.cancel(), ["queued", "preparing", "uploading", "paused", "finishing"]]
  ]
})

const isVisible = (element: Element): boolean => element.getClientRects().length > 0

/** What can be done with all files: buttons, most of them in a menu where there is little room. */
const makeActions = (queue: UploadQueue, words: Words.Words, focusElsewhere: () => void) => {
  const { first, more } = actionsOf(queue)
  const made = ([id, key, act, states]: Action) => ({ button: button({ id }, act, Words.say(words, key)), states })
  const [ahead, behind] = [first.map(made), more.map(made)]
  const label = Words.say(words, "moreActions")
  const toggle = button(
    { id: "more", class: "icon", "aria-label": label, title: label, "aria-controls": "menu", "aria-expanded": "false" },
    () => open(toggle.ariaExpanded === "false"),
    icon("M5 12h.01M12 12h.01M19 12h.01")
  )
  const menu = make("div", { id: "menu" }, ...behind.map(({ button }) => button))
  const open = (isOpen: boolean): void => {
    if (!isOpen && menu.matches(":focus-within") && isVisible(toggle)) toggle.focus()
    toggle.ariaExpanded = `${isOpen}`
  }
  const element = make("div", { class: "actions" }, ...ahead.map(({ button }) => button), toggle, menu)
  menu.addEventListener("click", () => open(false))
  element.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") open(false)
  })
  element.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) open(false)
  })
  const buttons = [...ahead, { button: toggle, states: more.flatMap(([, , , states]) => states) }, ...behind]
  return {
    element,
    show: (items: ReadonlyArray<Item>): void => {
      const focused = buttons.find(({ button }) => button.matches(":focus"))
      const present = new Set(items.map(({ state }) => state))
      for (const { button, states } of buttons) button.hidden = !states.some((state) => present.has(state))
      // what goes on comes before choosing more files, and of two, one
      const [, ...goingOn] = ahead.map(({ button }) => button)
      const primary = goingOn.find(({ hidden }) => !hidden)
      for (const button of goingOn) button.classList.toggle("primary", button === primary)
      // there is always room for one
      element.classList.toggle("folded", buttons.filter(({ button }) => button !== toggle && !button.hidden).length > 1)
      if (focused === undefined || isVisible(focused.button)) return
      // such as from Pause all to Resume all
      const next = buttons.find(({ button }) => isVisible(button))
      if (next === undefined) focusElsewhere()
      else next.button.focus()
    }
  }
}

/** Everything above the list: all files together, and what can be done with them. */
export const makeSummary = (queue: UploadQueue, words: Words.Words, focusElsewhere: () => void) => {
  const title = make("h2", {}, Words.say(words, "yourFiles"))
  const done = make(
    "div",
    { id: "done", part: "done", hidden: "" },
    icon("M5 13l4 4L19 7"),
    make("slot", { name: "done" }, Words.say(words, "done"))
  )
  const actions = makeActions(queue, words, focusElsewhere)
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
