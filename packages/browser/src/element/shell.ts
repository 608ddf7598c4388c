import * as Words from "../words.js"
import { read } from "./attributes.js"
import { adopt, button, icon, make } from "./dom.js"
import type { Form } from "./form.js"
import { makeForm } from "./form.js"
import type { StevedoreUpload } from "./model.js"
import { shell } from "./shellStyle.js"

const upward = "M24 31V11m0 0-8 8m8-8 8 8M9 30v5a4 4 0 0 0 4 4h22a4 4 0 0 0 4-4v-5"

/** The place to drop, and what the element is to a form. */
export const build = async (
  host: StevedoreUpload,
  root: ShadowRoot,
  internals: ElementInternals,
  take: (files: Iterable<File>) => Promise<void>
): Promise<Form> => {
  adopt(root, shell)
  const { limits } = read(host)
  const lang = host.closest("[lang]")?.getAttribute("lang") ?? navigator.language
  const words = host.words ??= await Words.load(lang)
  const chosen = (input: HTMLInputElement) => {
    input.hidden = true
    input.addEventListener("change", () => {
      void take(Array.from(input.files ?? []))
      // so that the same file can be chosen again
      input.value = ""
    })
    return input
  }
  const accept = (host.limits?.accept ?? limits.accept ?? []).join()
  const most = host.limits?.files ?? limits.files
  const files = chosen(make("input", { type: "file", id: "files", accept, ...most === 1 ? {} : { multiple: "" } }))
  const folder = chosen(make("input", { type: "file", id: "folder", webkitdirectory: "" }))
  const slot = (name: string, text: string) => make("slot", { name }, make("p", { class: name, part: name }, text))
  const choose = button(
    { id: "choose-files", class: "primary" },
    () => files.click(),
    Words.say(words, "chooseFiles")
  )
  const form = makeForm(host, internals, words, choose)
  const box = make(
    "section",
    { id: "drop", part: "drop", "aria-label": Words.say(words, "chooseFiles") },
    icon(upward, 48),
    slot("invitation", Words.say(words, "drop")),
    make("p", { class: "touch" }, Words.say(words, "touch")),
    make(
      "p",
      { class: "ways" },
      choose,
      button({ id: "choose-folder" }, () => folder.click(), Words.say(words, "chooseFolder"))
    ),
    slot("hint", Words.say(words, "paste")),
    form.line,
    files,
    folder
  )
  const direction = /^(ar|fa|he|ur)\b/.test(words.language) ? "rtl" : "ltr"
  // a live region says only what changes in it: it is there from the start
  const announcements = make("p", { class: "unseen", id: "announcements", role: "status", "aria-live": "polite" })
  root.append(make("div", { id: "all", lang: words.language, dir: direction }, box, announcements))
  form.show(undefined)
  return form
}
