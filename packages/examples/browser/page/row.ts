// One file of the list. Its elements are created once and only their text changes, so that focus stays where it is.
import type { UploadQueue } from "@stevedore/browser"
import * as Words from "./words.js"

type Item = UploadQueue.Item

export interface Row {
  readonly element: HTMLLIElement
  readonly update: (item: Item) => void
  /** Focuses the first enabled button. */
  readonly focus: () => void
}

const icons = {
  pause: "M8 5v14M16 5v14",
  resume: "M8 5l11 7-11 7z",
  retry: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
  choose: "M4 7a2 2 0 0 1 2-2h4l2 2h6a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2z",
  cancel: "M6 6l12 12M18 6L6 18"
}

const svg = "http://www.w3.org/2000/svg"

const button = (act: () => void) => {
  const element = document.createElement("button")
  element.type = "button"
  element.className = "icon"
  const picture = document.createElementNS(svg, "svg")
  picture.setAttribute("viewBox", "0 0 24 24")
  picture.setAttribute("aria-hidden", "true")
  const path = document.createElementNS(svg, "path")
  picture.append(path)
  const words = document.createElement("span")
  element.append(picture, words)
  element.addEventListener("click", act)
  return {
    element,
    show: (icon: keyof typeof icons, label: string, shown = "") => {
      words.textContent = shown
      path.setAttribute("d", icons[icon])
      element.ariaLabel = label
      element.title = label
      element.hidden = false
    },
    hide: () => {
      element.hidden = true
    }
  }
}

const text = (tag: "p" | "span", className: string) => {
  const element = document.createElement(tag)
  element.className = className
  return element
}

export const makeBar = (label: string): HTMLDivElement => {
  const bar = document.createElement("div")
  bar.className = "bar"
  bar.setAttribute("role", "progressbar")
  bar.ariaLabel = label
  bar.ariaValueMin = "0"
  bar.ariaValueMax = "100"
  bar.append(document.createElement("i"))
  return bar
}

export const showBar = (bar: HTMLElement, percent: number, words: string): void => {
  bar.ariaValueNow = `${percent}`
  bar.ariaValueText = words
  const [fill] = bar.getElementsByTagName("i")
  if (fill !== undefined) fill.style.transform = `scaleX(${percent / 100})`
}

export const make = (
  id: string,
  { cancel, giveFile, pause, remove, resume, retry }:
    & Pick<
      UploadQueue.UploadQueue,
      "pause" | "resume" | "retry" | "cancel" | "remove"
    >
    & { readonly giveFile: (item: Item) => void }
): Row => {
  let current: Item | undefined
  const element = document.createElement("li")
  const name = text("p", "name")
  // the end of a right-to-left name is on its left
  name.dir = "auto"
  const state = text("p", "state")
  const error = text("p", "error")
  error.setAttribute("role", "alert")
  const bar = makeBar("")
  const first = button(() => {
    switch (current?.state) {
      case "paused":
        return resume(id)
      case "failed":
        return Words.needsFile(current) ? giveFile(current) : retry(id)
      case "cancelled":
        return retry(id)
      case "needs-file":
        return giveFile(current)
      default:
        return pause(id)
    }
  })
  const last = button(() => {
    const ended = current?.state === "completed" || current?.state === "cancelled" || current?.state === "failed"
    return ended || current?.state === "needs-file" ? remove(id) : cancel(id)
  })
  const words = document.createElement("div")
  words.className = "words"
  words.append(name, state, error)
  const actions = document.createElement("div")
  actions.className = "actions"
  actions.append(first.element, last.element)
  element.append(words, actions, bar)

  const showActions = (item: Item, called: string): void => {
    switch (item.state) {
      case "paused":
        first.show("resume", `Resume ${called}`)
        break
      case "failed":
        if (Words.needsFile(item)) first.show("choose", `Choose ${called} again`, "Choose")
        else first.show("retry", `Retry ${called}`)
        break
      case "cancelled":
        first.show("retry", `Upload ${called} after all`)
        break
      case "needs-file":
        if (item.kept) first.show("resume", `Resume ${called}`, "Resume")
        else first.show("choose", `Choose ${called} again`, "Choose")
        break
      case "finishing":
      case "completed":
        // a button that is hidden loses the focus
        if (first.element === document.activeElement) last.element.focus()
        first.hide()
        break
      default:
        first.show("pause", `Pause ${called}`)
    }
    const isOver = item.state === "completed" || item.state === "cancelled" || item.state === "failed"
    last.show(
      "cancel",
      isOver ? `Remove ${called}` : item.state === "needs-file" ? `Discard ${called}` : `Cancel ${called}`
    )
  }

  return {
    element,
    update: (item) => {
      if (item === current) return
      current = item
      element.dataset["state"] = Words.isFinishing(item) ? "finishing" : item.state
      const called = Words.name(item.name)
      name.textContent = called
      name.title = item.name
      state.textContent = Words.unbroken(Words.state(item))
      const told = Words.failure(item)
      // announced once, not with every change
      if (error.textContent !== told) error.textContent = told
      error.hidden = told === ""
      bar.ariaLabel = called
      showBar(bar, Words.percent(item), Words.progress(item))
      showActions(item, called)
    },
    focus: () => (first.element.hidden ? last.element : first.element).focus()
  }
}
