import * as Words from "../words.js"
import { button, icon, make } from "./dom.js"
import type { Details } from "./model.js"

type Refused = Details["refused"]["refused"]

const most = 5

/** The box that says what was not added, and why. */
export const makeRefusals = (words: Words.Words, onDismiss: () => void) => {
  const lines = make("div", { role: "alert" })
  const dismiss = Words.say(words, "dismiss")
  const box = make(
    "div",
    { id: "refused", part: "refused", hidden: "" },
    lines,
    button(
      { class: "icon", "aria-label": dismiss, title: dismiss },
      () => {
        show([])
        onDismiss()
      },
      icon("M6 6l12 12M18 6L6 18")
    )
  )
  const lineOf = ({ message, name }: Refused[number]) => {
    const called = make("strong", { dir: "auto" }, Words.nameOf(words, name))
    const [before = "", after = ""] = Words.say(words, "notAdded").split("{name}")
    return make("p", {}, before, called, `${after} ${message}`)
  }
  const show = (refused: Refused): void => {
    box.hidden = refused.length === 0
    lines.replaceChildren(...refused.slice(0, most).map(lineOf))
    if (refused.length > most) {
      lines.append(make("p", {}, Words.say(words, "andMore", { count: refused.length - most })))
    }
  }
  return { element: box, show }
}

/** Says what was taken out, and brings it back for as long as that is possible. */
export const makeUndo = (words: Words.Words) => {
  let left: ReturnType<typeof setTimeout> | undefined
  const box = make("div", { id: "removed", part: "removed", hidden: "" })
  return {
    element: box,
    show: (name: string, undo: () => void): void => {
      const hide = () => {
        box.hidden = true
      }
      const [before = "", after = ""] = Words.say(words, "removed").split("{name}")
      const back = button({}, () => {
        undo()
        hide()
      }, Words.say(words, "undo"))
      box.replaceChildren(before, make("bdi", {}, Words.nameOf(words, name)), `${after} `, back)
      box.hidden = false
      clearTimeout(left)
      left = setTimeout(hide, 5000)
    }
  }
}
