/** What a page does in the laws of a field: mounts fields, hands files over, and looks. It is made in the page itself. */
import type { StevedoreUpload } from "@stevedore/browser/element"
import { inPage, type Tab } from "./engine.js"

/** The attributes of a field: flags as frameworks give them. */
export type Attributes = Readonly<Record<string, string | boolean>>

/** How a page of a framework makes a field in a place, and takes it out: without one, the kit does it. */
export interface Mounting {
  readonly mount: (attributes: Attributes, place: Element) => void
  readonly unmount: (place: Element) => void
}

export const prepared = (page: Tab) =>
  inPage(page, () => {
    document.querySelector("stevedore-upload")?.remove()
    const told: Array<string> = []
    addEventListener("failed", (event) => {
      const { item } = Object(Reflect.get(event, "detail"))
      told.push(`failed ${item.name} ${item.error.tag}`)
    })
    addEventListener("changed", (event) => told.push(`changed ${Object(Reflect.get(event, "detail")).value.join()}`))
    const file = (name: string, size = 100) => new File([new Uint8Array(size).fill(65)], name, { lastModified: 1 })
    const plain: Mounting = {
      mount: (attributes, place) => {
        const field = document.createElement("stevedore-upload")
        for (const [name, value] of Object.entries(attributes)) {
          if (value !== false) field.setAttribute(name, value === true ? "" : value)
        }
        place.append(field)
      },
      unmount: (place) => place.replaceChildren()
    }
    const { mount, unmount } = window.mounting ?? plain
    const mounted = (attributes: Attributes, within: Element = document.body) => {
      const place = document.createElement("div")
      within.append(place)
      mount(attributes, place)
      const field = place.querySelector("stevedore-upload")
      if (field === null) throw new Error("no field")
      return field
    }
    const unmounted = (field: Element) => {
      const place = field.parentElement
      if (place !== null) unmount(place)
      place?.remove()
    }
    const until = async (holds: () => unknown) => {
      for (let tries = 0; tries < 600 && !holds(); tries++) await new Promise((done) => setTimeout(done, 25))
    }
    const isBuilt = (field: Element) => field.shadowRoot?.getElementById("choose-files") != null
    const rows = (field: Element) =>
      Array.from(field.shadowRoot?.querySelectorAll("li .name") ?? [], ({ textContent }) => textContent ?? "")
    const buttons = (field: Element) =>
      Array.from(field.shadowRoot?.querySelectorAll("button") ?? [], (button) => button.ariaLabel ?? button.textContent)
    const press = (field: Element, label: string) =>
      Array.from(field.shadowRoot?.querySelectorAll("button") ?? [])
        .find(({ ariaLabel, textContent }) => (ariaLabel ?? textContent) === label)?.click()
    /** The texts of what is seen. */
    const shown = (field: Element, selector: string) =>
      Array.from(field.shadowRoot?.querySelectorAll<HTMLElement>(selector) ?? [])
        .filter((element) => element.checkVisibility()).map(({ textContent }) => textContent ?? "")
    const pause = (millis: number) => new Promise((done) => setTimeout(done, millis))
    const inForm = (attributes: Attributes, html = "") => {
      const form = document.createElement("form")
      form.innerHTML = html
      document.body.append(form)
      return { form, field: mounted(attributes, form.firstElementChild ?? form) }
    }
    const values = (form: HTMLFormElement, name: string) => new FormData(form).getAll(name).map(String)
    const kit = {
      told,
      file,
      mounted,
      unmounted,
      until,
      isBuilt,
      rows,
      buttons,
      press,
      shown,
      pause,
      inForm,
      values
    }
    Object.assign(window, { kit })
    return Object.keys(kit).length
  }, null)

declare global {
  interface Window {
    readonly mounting?: Mounting
    readonly kit: {
      readonly told: Array<string>
      readonly file: (name: string, size?: number) => File
      readonly mounted: (attributes: Attributes, within?: Element) => StevedoreUpload
      readonly unmounted: (field: Element) => void
      readonly until: (holds: () => unknown) => Promise<void>
      readonly isBuilt: (field: Element) => boolean
      readonly rows: (field: Element) => ReadonlyArray<string>
      readonly buttons: (field: Element) => ReadonlyArray<string>
      readonly press: (field: Element, label: string) => void
      readonly shown: (field: Element, selector: string) => ReadonlyArray<string>
      readonly pause: (millis: number) => Promise<unknown>
      /** A form, in whose first element, if it has one, the field is. */
      readonly inForm: (
        attributes: Attributes,
        html?: string
      ) => { readonly form: HTMLFormElement; readonly field: StevedoreUpload }
      readonly values: (form: HTMLFormElement, name: string) => ReadonlyArray<string>
    }
  }
}
