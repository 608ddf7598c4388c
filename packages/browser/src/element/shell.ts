import * as Words from "../words/format.js"
import { read } from "./attributes.js"
import { adopt, button, icon, make } from "./dom.js"
import { makeForm } from "./form.js"
import type { StevedoreUpload } from "./model.js"
import { shell } from "./shellStyle.js"

/** The largest file of the standard profile: no limit to speak of. */
export const largestFile = 10_000_000_000

const upward = "M24 31V11m0 0-8 8m8-8 8 8M9 30v5a4 4 0 0 0 4 4h22a4 4 0 0 0 4-4v-5"

/** What is there before the first file. */
export type Shell = Awaited<ReturnType<typeof build>>

/** The place to drop, and what the element is to a form. */
export const build = async (
  host: StevedoreUpload,
  root: ShadowRoot,
  internals: ElementInternals,
  take: (files: Iterable<File>) => void
) => {
  const languageNow = () => host.closest("[lang]")?.getAttribute("lang") || navigator.language
  // the one that was wanted
  const language = languageNow()
  const words = host.words ?? await Words.load(language)
  adopt(root, shell)
  const chosen = (input: HTMLInputElement) => {
    input.hidden = true
    input.addEventListener("change", () => {
      take(Array.from(input.files ?? []))
      // so that the same file can be chosen again
      input.value = ""
    })
    return input
  }
  const files = chosen(make("input", { type: "file", id: "files" }))
  const folder = chosen(make("input", { type: "file", id: "folder", webkitdirectory: "" }))
  const slotted = (name: string) => {
    const text = make("p", { class: name, part: name })
    return [make("slot", { name }, text), text] as const
  }
  const [[invitation, drop], [hint, paste]] = [slotted("invitation"), slotted("hint")]
  const touch = make("p", { class: "touch" })
  const choose = button({ id: "choose-files", class: "primary" }, () => files.click())
  const chooseFolder = button({ id: "choose-folder" }, () => folder.click(), Words.say(words, "chooseFolder"))
  const accepted = make("p", { class: "hint", id: "limits", part: "limits" })
  const required = make("p", { class: "unseen", id: "required" }, Words.say(words, "required"))
  const form = makeForm(host, internals, words, choose)
  const box = make(
    "section",
    { id: "drop", part: "drop" },
    icon(upward, 48),
    invitation,
    touch,
    make("p", { class: "ways" }, choose, chooseFolder),
    hint,
    accepted,
    required,
    form.line,
    files,
    folder
  )
  /** Shows what the attributes and limits are now. */
  const refresh = (): void => {
    const limits = host.queue?.getLimits() ?? { ...read(host).limits, ...host.limits }
    const isOne = limits.files === 1
    const say = (key: "drop" | "touch" | "paste" | "chooseFiles") => Words.say(words, key, { count: isOne ? 1 : 2 })
    files.accept = (limits.accept ?? []).join()
    files.multiple = !isOne
    chooseFolder.hidden = isOne
    drop.textContent = say("drop")
    touch.textContent = say("touch")
    paste.textContent = say("paste")
    choose.textContent = say("chooseFiles")
    accepted.textContent = Words.limits(words, limits.size === largestFile ? { ...limits, size: undefined } : limits)
    accepted.hidden = accepted.textContent === ""
    required.hidden = !host.required
    choose.setAttribute("aria-describedby", ["limits", ...host.required ? ["required"] : []].join(" "))
    const label = host.ariaLabel ?? Array.from(host.labels, ({ textContent }) => textContent?.trim()).join(" ")
    box.ariaLabel = label || say("chooseFiles")
    choose.ariaLabel = label ? `${say("chooseFiles")}: ${label}` : null
  }
  refresh()
  const direction = /^(ar|fa|he|ur)\b/.test(words.language) ? "rtl" : "ltr"
  // a live region says only what changes in it: it is there from the start
  const announcements = make("p", { class: "unseen", id: "announcements", role: "status", "aria-live": "polite" })
  const all = make("div", { id: "all", lang: words.language, dir: direction }, box, announcements)
  all.toggleAttribute("inert", host.matches(":disabled"))
  root.append(all)
  return { all, form, words, language, languageNow, refresh }
}
