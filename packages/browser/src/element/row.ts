// One file of the list. Its elements are created once and only their text changes, so that focus stays where it is.
import type { Item, Limits, UploadQueue } from "../queue/model.js"
import * as Words from "../words.js"
import { makeBar, unbroken } from "./bar.js"
import { button, icon, make as element } from "./dom.js"
import { pictureOf } from "./picture.js"

export type Row = ReturnType<typeof make>

/** What all rows share. */
export interface Rows {
  readonly queue: Pick<UploadQueue, "pause" | "resume" | "retry" | "cancel">
  readonly words: Words.Words
  readonly limits: () => Limits
  readonly giveFile: (item: Item) => void
  /** Takes it out of the list. */
  readonly takeOut: (item: Item) => void
  readonly linkOf: (item: Item) => string | undefined
  readonly announce: (words: string) => void
}

const icons = {
  pause: "M8 5v14M16 5v14",
  resume: "M8 5l11 7-11 7z",
  retry: "M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4",
  choose: "M4 7a2 2 0 0 1 2-2h4l2 2h6a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2z",
  cancel: "M6 6l12 12M18 6L6 18"
}

const iconButton = (act: () => void) => {
  const picture = icon("")
  const words = element("span")
  const shown = button({ class: "icon" }, act, picture, words)
  return {
    element: shown,
    show: (name: keyof typeof icons, label: string, short = "") => {
      words.textContent = short
      picture.firstElementChild?.setAttribute("d", icons[name])
      shown.ariaLabel = label
      shown.title = label
      shown.hidden = false
    }
  }
}

const isIdle = ({ state }: Item): boolean => state === "ready" || state === "needs-file"

const isOver = ({ state }: Item): boolean => state === "completed" || state === "cancelled" || state === "failed"

const refusedForGood: ReadonlyArray<number | undefined> = [403, 413, 415, 422]

/** Whether another try would fail as this one: the application has refused the file. */
export const isFinal = ({ error: { operation, reason, status } = { tag: "", message: "" } }: Item): boolean =>
  status === 413 || operation !== undefined
    && (refusedForGood.includes(status) || status === 409 && reason !== undefined)

/** Whether a retry of a failed item needs its file again. */
const needsFile = ({ error }: Item): boolean => error?.tag === "SourceChanged" || error?.tag === "SourceUnreadable"

export const make = (row: HTMLLIElement, first: Item, file: Blob | undefined, rows: Rows) => {
  const { queue, words } = rows
  const { id } = first
  let current: Item | undefined
  const say = (key: Words.MessageKey, name?: string) => Words.say(words, key, name === undefined ? {} : { name })
  // a name has its own direction, and its place beside the picture that of the page
  const [start, end] = [element("span"), element("span")]
  const name = element("p", { class: "name", part: "name" }, element("bdi", {}, start, end))
  const state = element("p", { class: "state", part: "state" })
  const error = element("p", { class: "error", part: "error", role: "alert", dir: "auto" })
  const link = element("p", { class: "link" })
  const bar = makeBar()
  const go = iconButton(() => {
    switch (current?.state) {
      case "ready":
      case "paused":
        return queue.resume(id)
      case "failed":
        return needsFile(current) ? rows.giveFile(current) : queue.retry(id)
      case "cancelled":
        return queue.retry(id)
      case "needs-file":
        return rows.giveFile(current)
      default:
        return queue.pause(id)
    }
  })
  const stop = iconButton(() => {
    if (current === undefined) return
    // what has nothing to lose stays in the list, to be uploaded after all
    if (isOver(current) || isIdle(current) || current.sent > 0) rows.takeOut(current)
    else queue.cancel(id)
  })
  row.replaceChildren(
    pictureOf(first, file),
    element("div", { class: "words" }, name, state, error, link),
    element("div", { class: "actions" }, go.element, stop.element),
    bar.element
  )

  const hideGo = (): void => {
    // a button that is hidden loses the focus
    if (go.element.matches(":focus")) stop.element.focus()
    go.element.hidden = true
  }

  const showGo = (item: Item, called: string): void => {
    switch (item.state) {
      case "ready":
        return go.show("resume", say("upload", called))
      case "paused":
        return go.show("resume", say("resume", called))
      case "failed":
        if (isFinal(item)) return hideGo()
        return needsFile(item)
          ? go.show("choose", say("choose", called), say("chooseShort"))
          : go.show("retry", say("retry", called), say("retryShort"))
      case "cancelled":
        return go.show("retry", say("uploadAfterAll", called))
      case "needs-file":
        return item.kept
          ? go.show("resume", say("resume", called), say("resumeShort"))
          : go.show("choose", say("choose", called), say("chooseShort"))
      case "finishing":
      case "completed":
        return hideGo()
      default:
        return go.show("pause", say("pause", called))
    }
  }

  const showLink = (item: Item, called: string): void => {
    const href = item.state === "completed" ? rows.linkOf(item) : undefined
    if (href === undefined) return link.replaceChildren()
    const copy = button({ "aria-label": say("copyLink", called) }, () => {
      const told = () => {
        copy.textContent = say("copied")
        copy.ariaLabel = `${say("copied")} ${called}`
        rows.announce(say("copied"))
      }
      // who may not copy can still open it
      void navigator.clipboard.writeText(href).then(told, () => undefined)
    }, say("copyShort"))
    link.replaceChildren(
      element("a", { href, target: "_blank", rel: "noopener", "aria-label": say("open", called) }, say("openShort")),
      // a page that came without TLS has no clipboard
      ...isSecureContext ? [copy] : []
    )
  }

  return {
    update: (item: Item): void => {
      const before = current
      current = item
      const called = Words.nameOf(words, item.name)
      if (before?.name !== item.name) {
        const parts = Words.nameInParts(words, item.name)
        start.textContent = parts[0]
        end.textContent = parts[1]
        name.title = parts.join("")
      }
      // that it is uploaded says the title of its list
      state.textContent = unbroken(
        item.state === "completed" ? Words.bytes(words, item.size) : Words.state(words, item)
      )
      const told = Words.failureOf(words, item, rows.limits())
      // announced once, not with every change
      if (error.textContent !== told) error.textContent = told
      error.hidden = told === ""
      bar.element.hidden = item.state === "failed" && item.sent === 0
      bar.call(called)
      bar.show(item, Words.percentage(words, item), Words.progress(words, item))
      showGo(item, called)
      stop.show(
        "cancel",
        say(
          isOver(item) || item.state === "ready" ? "remove" : item.state === "needs-file" ? "discard" : "cancel",
          called
        ),
        item.state === "failed" && isFinal(item) ? say("removeShort") : ""
      )
      if (before?.state !== item.state) showLink(item, called)
    },
    /** Focuses the first enabled button. */
    focus: (): void => (go.element.hidden ? stop.element : go.element).focus()
  }
}
