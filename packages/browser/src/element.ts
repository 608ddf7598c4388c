/**
 * `<stevedore-upload>`: a place to drop, choose and paste files, with their progress, errors and what an earlier visit left
 * unfinished. Importing this module registers the element. What uploads is loaded once there is something to upload.
 *
 * Attributes: `base-url` (`/api` by default), `name`, `accept`, `max-files`, `max-size` and `max-total` as `500000` or
 * `10MB`, `files` for how many upload at once, `autostart`, `metadata` as JSON, `required`, `disabled`,
 * `lang`, and `whole-page` to take files that are dropped anywhere else than onto another element that takes them. While one
 * of them is wrong, the console says so and no file is accepted. A paste is taken by the element with the focus, or else by the first that is seen.
 *
 * Slots: `invitation` and `hint` in the place to drop, `done` for what to show once everything is uploaded.
 *
 * Parts: `drop`, `invitation`, `hint`, `button`, `refused`, `unfinished`, `queue`, `numbers`, `bar`, `sent`, `confirmed`,
 * `row`, `picture`, `name`, `state`, `error`, `done`, `finished` and `offline`.
 *
 * Custom properties for colours and shape: `--stevedore-accent`, `--stevedore-on-accent`, `--stevedore-card`,
 * `--stevedore-text`, `--stevedore-soft`, `--stevedore-line`, `--stevedore-good`, `--stevedore-bad` and
 * `--stevedore-radius`. The font is that of the page. Light or dark follows `color-scheme`.
 *
 * @example
 * import "@stevedore/browser/element"
 *
 * const show = (main: HTMLElement) => {
 *   const upload = document.createElement("stevedore-upload")
 *   upload.setAttribute("base-url", "/api")
 *   upload.limits = { files: 20, size: 2_000_000_000, accept: ["image/*", ".pdf"] }
 *   upload.addEventListener("completed", ({ detail }) => console.log(detail.item.result?.id))
 *   main.append(upload)
 * }
 */
import type { Arrival } from "./element/arrivals.js"
import { arrivalsOf, ofFiles } from "./element/arrivals.js"
import type { Form } from "./element/form.js"
import type { StevedoreUpload } from "./element/model.js"
import type { View } from "./element/view.js"
import type { Existing } from "./queue/model.js"
import type { OwnedUploadQueue } from "./UploadQueue.js"

/**
 * What a page sees of the element.
 *
 * @category models
 */
export type * from "./element/model.js"

// Opening a database that does not exist would create it
const hasUnfinished = async (): Promise<boolean> => {
  const name = "stevedore"
  const known = await indexedDB.databases?.().catch(() => undefined)
  if (known?.every((database) => database.name !== name) === true) return false
  return new Promise((resolve) => {
    const opening = indexedDB.open(name)
    opening.onerror = () => resolve(false)
    opening.onupgradeneeded = () => opening.transaction?.abort()
    opening.onsuccess = () => {
      const database = opening.result
      const count = database.transaction("values").objectStore("values").count()
      count.onerror = () => resolve(false)
      count.onsuccess = () => resolve(count.result > 0)
      database.close()
    }
  })
}

const settings = ["limits", "metadata", "upload", "words", "layer", "linkOf", "queue", "existing"] as const

type Settings = Pick<StevedoreUpload, typeof settings[number]>

const hasFiles = (event: Event): event is DragEvent =>
  event instanceof DragEvent && event.dataTransfer?.types.includes("Files") === true

/** Whether an element of this page has had a queue: another one may show it again. */
let isInUse = false

/** Each element of this module, under whatever name. */
const elements = new WeakSet<EventTarget>()

const isSeen = (element: HTMLElement): boolean =>
  element.getClientRects().length > 0 && getComputedStyle(element).visibility === "visible"

const isEditable = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA)$/.test(target.tagName))

/**
 * Registers the element under another name. Does nothing where there are no elements, as on a server, or where the name is
 * taken.
 *
 * @category registration
 */
export const define = (name: string): void => {
  if (typeof customElements === "undefined" || customElements.get(name) !== undefined) return
  customElements.define(
    name,
    class extends HTMLElement implements StevedoreUpload {
      static readonly formAssociated = true
      static readonly observedAttributes = ["name", "required"]
      readonly #internals = this.attachInternals()
      #form: Form | undefined
      #settings: Partial<Settings> = {}
      #shell: Promise<void> | undefined
      #view: Promise<View> | undefined
      #queue: OwnedUploadQueue | undefined
      #away: AbortController | undefined
      readonly #root = this.attachShadow({ mode: "open" })

      constructor() {
        super()
        elements.add(this)
        // what a page had set before this script arrived hides the accessors
        for (const name of settings) {
          if (!Object.hasOwn(this, name)) continue
          Object.assign(this.#settings, { [name]: this[name] })
          Reflect.deleteProperty(this, name)
        }
      }

      // accessors, and no fields: by them frameworks know what is a property
      get limits(): Settings["limits"] {
        return this.#settings.limits
      }
      set limits(limits: Settings["limits"]) {
        this.#settings.limits = limits
      }
      get metadata(): Settings["metadata"] {
        return this.#settings.metadata
      }
      set metadata(metadata: Settings["metadata"]) {
        this.#settings.metadata = metadata
      }
      get upload(): Settings["upload"] {
        return this.#settings.upload
      }
      set upload(upload: Settings["upload"]) {
        this.#settings.upload = upload
      }
      get words(): Settings["words"] {
        return this.#settings.words
      }
      set words(words: Settings["words"]) {
        this.#settings.words = words
      }
      get layer(): Settings["layer"] {
        return this.#settings.layer
      }
      set layer(layer: Settings["layer"]) {
        this.#settings.layer = layer
      }
      get linkOf(): Settings["linkOf"] {
        return this.#settings.linkOf
      }
      set linkOf(linkOf: Settings["linkOf"]) {
        this.#settings.linkOf = linkOf
      }

      get queue(): Settings["queue"] {
        return this.#settings.queue ?? this.#queue
      }
      set queue(queue: Settings["queue"]) {
        if (queue === this.queue) return
        this.#settings.queue = queue
        this.#queue = undefined
        this.#close()
        if (this.isConnected) void this.#show()
      }

      get existing(): Settings["existing"] {
        return this.#settings.existing
      }
      set existing(existing: Settings["existing"]) {
        this.#settings.existing = existing
        if (this.isConnected && existing !== undefined) void this.#restore(existing)
      }

      get value(): ReadonlyArray<string> {
        return this.queue?.getSnapshot().items.flatMap(({ result, state }) =>
          state === "completed" && result !== undefined ? [result.id] : []
        ) ?? []
      }
      get form(): HTMLFormElement | null {
        return this.#internals.form
      }
      get validity(): ValidityState {
        return this.#internals.validity
      }
      get validationMessage(): string {
        return this.#internals.validationMessage
      }
      checkValidity(): boolean {
        return this.#internals.checkValidity()
      }
      reportValidity(): boolean {
        return this.#internals.reportValidity()
      }

      attributeChangedCallback(): void {
        this.#form?.show(this.queue?.getSnapshot())
      }
      formDisabledCallback(isDisabled: boolean): void {
        void this.#built().then(() => this.#root.getElementById("all")?.toggleAttribute("inert", isDisabled))
      }
      formResetCallback(): void {
        for (const { id } of this.queue?.getSnapshot().items ?? []) this.queue?.remove(id)
        this.queue?.addUploaded(this.existing ?? [])
      }
      formStateRestoreCallback(state: unknown): void {
        void this.#built().then(() => this.#restore(this.#form?.restoredFrom(state) ?? []))
      }

      async #restore(uploaded: Iterable<Existing>): Promise<void> {
        const { queue } = await this.#load()
        queue.addUploaded(uploaded)
      }

      start(): void {
        this.queue?.resume()
      }

      add(files: Iterable<File>): Promise<void> {
        return this.#take(ofFiles(files))
      }

      connectedCallback(): void {
        this.#away = new AbortController()
        this.#listen(this.#away.signal)
        // one that was only moved has kept its view
        if (this.#view === undefined) void this.#show()
      }

      disconnectedCallback(): void {
        this.#away?.abort()
        queueMicrotask(() => {
          if (!this.isConnected) this.#close()
        })
      }

      #close(): void {
        void this.#view?.then(({ close }) => close())
        this.#view = undefined
      }

      async #show(): Promise<void> {
        await this.#built()
        const isKnown = this.queue !== undefined || this.existing !== undefined || isInUse || await hasUnfinished()
        if (isKnown && this.isConnected) await this.#load()
      }

      #built(): Promise<void> {
        return this.#shell ??= this.#build()
      }

      async #build(): Promise<void> {
        const { build } = await import("./element/shell.js")
        this.#form = await build(this, this.#root, this.#internals, (files) => this.#take(ofFiles(files)))
      }

      #load(): Promise<View> {
        return this.#view ??= this.#open()
      }

      async #open(): Promise<View> {
        await this.#built()
        const { open } = await import("./element/view.js")
        isInUse = true
        const view = open(this, this.#root, (snapshot) => this.#form?.show(snapshot))
        this.#queue = view.queue
        return view
      }

      async #take(given: ReadonlyArray<Arrival>): Promise<void> {
        if (this.matches(":disabled")) return
        const { take } = await this.#load()
        await take(given)
      }

      #listen(signal: AbortSignal): void {
        const area = this.hasAttribute("whole-page") ? window : this
        let inside = 0
        const over = (change: number) => (event: Event) => {
          if (!hasFiles(event)) return
          inside = Math.max(0, inside + change)
          this.toggleAttribute("data-over", inside > 0)
        }
        area.addEventListener("dragenter", over(1), { signal })
        area.addEventListener("dragleave", over(-1), { signal })
        // text and links that are dragged are the page's own business
        area.addEventListener("dragover", (event) => {
          if (hasFiles(event)) event.preventDefault()
        }, { signal })
        area.addEventListener("drop", (event) => {
          if (!hasFiles(event)) return
          inside = 0
          this.removeAttribute("data-over")
          // another one has taken it
          if (event.defaultPrevented) return
          event.preventDefault()
          if (event.dataTransfer !== null) void this.#take(arrivalsOf(event.dataTransfer))
        }, { signal })
        window.addEventListener("paste", (event) => {
          const arrivals = event.clipboardData === null ? [] : arrivalsOf(event.clipboardData)
          if (event.defaultPrevented || arrivals.length === 0 || isEditable(event.composedPath()[0])) return
          const focused = event.composedPath().find((target) => elements.has(target))
          if (focused === undefined ? !isSeen(this) : focused !== this) return
          event.preventDefault()
          void this.#take(arrivals)
        }, { signal })
      }
    }
  )
}

define("stevedore-upload")
