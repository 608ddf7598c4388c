import type { Existing, Snapshot } from "../queue/model.js"
import { say } from "../words/format.js"
import type { MessageKey, Words } from "../words/model.js"
import { make } from "./dom.js"
import type { StevedoreUpload } from "./model.js"

/** The files that are uploaded, as another page can begin with them. */
export const uploadedOf = (snapshot: Snapshot | undefined): ReadonlyArray<Existing> =>
  (snapshot?.items ?? []).flatMap(({ mediaType, name, result, size, state }) =>
    state === "completed" && result !== undefined ? [{ id: result.id, name, size, type: mediaType }] : []
  )

const isExisting = (value: unknown): value is Existing =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" && "name" in value
  && typeof value.name === "string"

/** What a browser has kept of a form that was left. */
const restoredFrom = (state: unknown): ReadonlyArray<Existing> => {
  const kept: unknown = typeof state === "string" ? JSON.parse(state) : []
  return Array.isArray(kept) ? kept.filter(isExisting) : []
}

/** What the element is to the form around it. */
export const makeForm = (
  host: StevedoreUpload,
  internals: ElementInternals,
  words: Words,
  anchor: HTMLElement
) => {
  const line = make("p", { class: "error", part: "error", role: "alert", hidden: "" })

  const faultOf = (
    snapshot: Snapshot | undefined,
    uploaded: ReadonlyArray<Existing>
  ): readonly [ValidityStateFlags, key?: MessageKey] => {
    const { failed = 0, state } = snapshot?.totals ?? {}
    if (state === "uploading" || state === "paused" || state === "ready") return [{ customError: true }, "formBusy"]
    if (failed > 0) return [{ customError: true }, "formFailed"]
    return host.hasAttribute("required") && uploaded.length === 0 ? [{ valueMissing: true }, "formEmpty"] : [{}]
  }

  // a browser would speak of an element that cannot have the focus, and say nothing to the visitor
  host.addEventListener("invalid", (event) => {
    event.preventDefault()
    line.textContent = internals.validationMessage
    line.hidden = false
    const isInvalid = (element: Element) => element.matches(":invalid:not(fieldset, object)")
    if (Array.from(internals.form?.elements ?? []).find(isInvalid) === host) anchor.focus()
  })

  return {
    line,
    /** What has the focus of the element. */
    anchor,
    restoredFrom,
    show: (snapshot: Snapshot | undefined): void => {
      const uploaded = uploadedOf(snapshot)
      const name = host.getAttribute("name")
      const data = new FormData()
      if (name !== null) { for (const { id } of uploaded) data.append(name, id) }
      internals.setFormValue(data, JSON.stringify(uploaded))
      const [flags, key] = faultOf(snapshot, uploaded)
      internals.setValidity(flags, key === undefined ? "" : say(words, key), anchor)
      if (key === undefined) line.hidden = true
    }
  }
}

export type Form = ReturnType<typeof makeForm>
