/**
 * `<stevedore-upload>`: a place to drop, choose and paste files, with their progress, errors and what an earlier visit left
 * unfinished. Importing this module registers the element. What uploads is loaded once there is something to upload.
 *
 * Attributes, which are also properties: `base-url` (`/api` by default), `queue-name` for the identity of its list, `name`, `accept`, `max-files`, `max-size` and `max-total` as `500000` or
 * `10MB`, `files` for how many upload at once, `autostart`, `metadata` as JSON, `required`, `disabled`,
 * `lang`, and `whole-page` to take files that are dropped anywhere else than onto another element that takes them. A change
 * takes effect at once. While one of them is wrong, the console says so and no file is accepted. A paste is taken by the element with the focus, or else by the first that is seen.
 *
 * Slots: `invitation` and `hint` in the place to drop, `done` for what to show once everything is uploaded.
 *
 * Parts: `drop`, `invitation`, `hint`, `limits`, `button`, `refused`, `removed`, `unfinished`, `queue`, `numbers`, `bar`, `sent`, `confirmed`,
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
import { arrivalsOf, ofFiles } from "./element/arrivals.js"
import type { Arrival } from "./element/arrivals.js"
import type { Details, StevedoreUpload } from "./element/model.js"
import type { Shell } from "./element/shell.js"
import type { View } from "./element/view.js"
import type { Existing, Snapshot } from "./queue/model.js"
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

/** How often scripts did not load. */
const failures = new Map<string, number>()

/** Firefox remembers a script that did not load: the next time it is asked for under another address. */
const imported = <Module>(load: () => Promise<Module>): Promise<Module> =>
  load().catch((error: unknown): Promise<Module> => {
    const [address = ""] = /https?:\S+$/.exec(String(error)) ?? []
    const times = failures.get(address) ?? 0
    failures.set(address, times + 1)
    if (address === "" || times === 0) throw error
    return import(/* @vite-ignore */ /* webpackIgnore: true */ `${address}?${times}`)
  })

/** What is said where nothing else could be loaded, by language. */
const notLoaded: Readonly<Record<string, readonly [text: string, again: string]>> = {
  en: ["Uploading could not be loaded.", "Try again"],
  de: ["Das Hochladen konnte nicht geladen werden.", "Erneut versuchen"],
  fr: ["L’envoi n’a pas pu être chargé.", "Réessayer"],
  es: ["No se pudo cargar la subida.", "Reintentar"],
  ja: ["アップロード機能を読み込めませんでした。", "再試行"],
  ar: ["تعذّر تحميل أداة الرفع.", "إعادة المحاولة"]
}

const settings = ["limits", "upload", "words", "layer", "linkOf"] as const
const flags = ["disabled", "required", "wholePage"] as const
const texts = [
  "name",
  "accept",
  "baseUrl",
  "queueName",
  "maxFiles",
  "maxSize",
  "maxTotal",
  "files",
  "autostart"
] as const

const states = ["form", "labels", "validity", "validationMessage", "willValidate"] as const

type Setting = typeof settings[number]
type Flag = typeof flags[number]
type Text = typeof texts[number]
type State = typeof states[number]

const attributeOf = (property: string): string => property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** What is set before the script of the element arrives. */
const properties = [...settings, ...flags, ...texts, "metadata", "multiple", "queue", "existing", "value"] as const

/** Makes an attribute a property, as those of an input are. */
const reflect = (prototype: HTMLElement, property: string, isFlag: boolean): void => {
  const attribute = attributeOf(property)
  Object.defineProperty(prototype, property, {
    configurable: true,
    enumerable: true,
    get(this: HTMLElement) {
      return isFlag ? this.hasAttribute(attribute) : this.getAttribute(attribute) ?? ""
    },
    set(this: HTMLElement, value: unknown) {
      if (isFlag) this.toggleAttribute(attribute, Boolean(value))
      else if (value === undefined || value === null) this.removeAttribute(attribute)
      else this.setAttribute(attribute, `${value}`)
    }
  })
}

const hasFiles = (event: Event): event is DragEvent =>
  event instanceof DragEvent && event.dataTransfer?.types.includes("Files") === true

/** Whether an element of this page has had a queue with a name: another one may show it again. */
let isInUse = false

/** Each element of this module, under whatever name. */
const elements = new WeakSet<EventTarget>()

const isSeen = (element: HTMLElement): boolean =>
  element.getClientRects().length > 0 && getComputedStyle(element).visibility === "visible"

const isEditable = (target: EventTarget | undefined): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA)$/.test(target.tagName))

/** A frame without a drag for so long has been left. */
const longestPause = 600

const idsOf = (files: ReadonlyArray<Existing> = []): string => JSON.stringify(files.map(({ id }) => id))

/** As high as it will be, so that nothing below it moves. */
const reserved = ":host { display: block; min-block-size: 17.7rem; }"

/**
 * Registers the element under another name. Does nothing where there are no elements, as on a server, or where the name is
 * taken.
 *
 * @category registration
 */
export const define = (name: string): void => {
  if (typeof customElements === "undefined" || customElements.get(name) !== undefined) return
  // eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- made of the lists above
  interface Upload extends Pick<StevedoreUpload, Setting | Flag | Text | State> {}
  // eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- made of the lists above
  class Upload extends HTMLElement implements StevedoreUpload {
    static readonly formAssociated = true
    static readonly observedAttributes = [...flags, ...texts].map(attributeOf).concat("lang", "aria-label")
    readonly type = "file"
    readonly #internals = this.attachInternals()
    readonly #root = this.attachShadow({ mode: "open", delegatesFocus: true })
    readonly #settings = new Map<string, unknown>()
    readonly #reserved = new CSSStyleSheet()
    readonly #problem = document.createElement("p")
    /** What was handed over and is not in the queue yet. */
    #waiting: ReadonlyArray<Arrival> = []
    #shell: Promise<Shell> | undefined
    #built: Shell | undefined
    #view: Promise<View> | undefined
    #metadata: StevedoreUpload["metadata"]
    #given: OwnedUploadQueue | undefined
    #queue: OwnedUploadQueue | undefined
    #existing: ReadonlyArray<Existing> | undefined
    #lastValue: string | undefined
    #custom = ""
    #away: AbortController | undefined

    static {
      for (const property of flags) reflect(this.prototype, property, true)
      for (const property of texts) reflect(this.prototype, property, false)
      for (const property of states) {
        Object.defineProperty(this.prototype, property, {
          configurable: true,
          get(this: Upload) {
            return this.#internals[property]
          }
        })
      }
      for (const property of settings) {
        Object.defineProperty(this.prototype, property, {
          configurable: true,
          enumerable: true,
          get(this: Upload) {
            return this.#settings.get(property)
          },
          set(this: Upload, value: unknown) {
            this.#settings.set(property, value)
            this.#changed(property)
          }
        })
      }
    }

    constructor() {
      super()
      elements.add(this)
      this.#reserved.replaceSync(reserved)
      this.#root.adoptedStyleSheets.push(this.#reserved)
      // what a page had set before this script arrived hides the accessors
      for (const name of properties) {
        if (!Object.hasOwn(this, name)) continue
        const value: unknown = this[name]
        Reflect.deleteProperty(this, name)
        Reflect.set(this, name, value)
      }
    }

    get metadata(): StevedoreUpload["metadata"] {
      return this.#metadata
    }
    set metadata(metadata: StevedoreUpload["metadata"] | string) {
      if (typeof metadata === "string") this.setAttribute("metadata", metadata)
      else this.#metadata = metadata
    }

    get multiple(): boolean {
      return (this.limits?.files ?? Number(this.maxFiles)) !== 1
    }
    set multiple(isMultiple: boolean) {
      if (!isMultiple) this.maxFiles = "1"
      else if (!this.multiple) this.removeAttribute("max-files")
    }

    get queue(): OwnedUploadQueue | undefined {
      return this.#given ?? this.#queue
    }
    set queue(queue: OwnedUploadQueue | undefined) {
      if (queue === this.queue) return
      this.#given = queue
      this.#reopen()
    }

    get existing(): StevedoreUpload["existing"] {
      return this.#existing
    }
    set existing(existing: StevedoreUpload["existing"]) {
      const before = this.#existing
      this.#existing = existing
      if (this.isConnected && idsOf(existing) !== idsOf(before)) void this.#replace(existing, before)
    }

    get value(): ReadonlyArray<string> {
      return this.queue?.getSnapshot().items.flatMap(({ result, state }) =>
        state === "completed" && result !== undefined ? [result.id] : []
      ) ?? (this.#existing ?? []).map(({ id }) => id)
    }
    set value(ids: ReadonlyArray<string> | undefined) {
      const wanted = JSON.stringify(ids)
      if (wanted === this.#lastValue) return
      this.#lastValue = wanted
      const files = (ids ?? []).map((id) => this.#existing?.find((file) => file.id === id) ?? { id, name: id })
      const before = this.value.map((id) => ({ id, name: id }))
      this.#existing = files
      if (this.isConnected) void this.#replace(files, before)
    }
    checkValidity(): boolean {
      return this.#internals.checkValidity()
    }
    reportValidity(): boolean {
      return this.#internals.reportValidity()
    }
    setCustomValidity(message: string): void {
      this.#custom = message
      this.#showForm()
    }

    attributeChangedCallback(name: string, before: string | null, now: string | null): void {
      // as frameworks write that a flag is off
      if (now === "false" && flags.some((flag) => attributeOf(flag) === name)) this.removeAttribute(name)
      else if (before !== now) this.#changed(name)
    }
    formDisabledCallback(isDisabled: boolean): void {
      this.#built?.all.toggleAttribute("inert", isDisabled)
      this.#showForm()
    }
    formAssociatedCallback(): void {
      this.#showForm()
    }
    formResetCallback(): void {
      for (const { id } of this.queue?.getSnapshot().items ?? []) this.queue?.remove(id)
      this.queue?.addUploaded(this.existing ?? [])
    }
    formStateRestoreCallback(state: unknown): void {
      void this.#loadedShell().then((shell) => this.#replace(shell?.form.restoredFrom(state), undefined))
    }

    /** Takes on what was changed: at once, whatever it is. */
    #changed(name: string): void {
      this.#internals.ariaRequired = `${this.required}`
      this.#showForm()
      if (name === "lang" || name === "words") return this.#rebuild()
      if (name === "queue-name" || name === "base-url") {
        this.#queue = undefined
        return this.#reopen()
      }
      this.#built?.refresh()
    }

    #rebuild(): void {
      if (this.#shell === undefined) return
      this.#close()
      this.#shell = this.#built = undefined
      this.#root.replaceChildren()
      this.#root.adoptedStyleSheets = [this.#reserved]
      if (this.isConnected) void this.#show()
    }

    /** Shows another queue. */
    #reopen(): void {
      this.#close()
      if (this.isConnected) void this.#show()
    }

    async #replace(files: Iterable<Existing> | undefined, before: ReadonlyArray<Existing> | undefined): Promise<void> {
      const view = await this.#load()
      view?.replace(files ?? [], before ?? [])
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
      this.#view?.then(({ close }) => close(), () => {})
      this.#view = undefined
    }

    async #show(): Promise<void> {
      const isBuilt = await this.#loadedShell() !== undefined
      const isKnown = this.queue !== undefined || this.existing !== undefined
        || this.queueName !== "" && (isInUse || await hasUnfinished().catch(() => false))
      if (isBuilt && isKnown && this.isConnected) await this.#load()
    }

    /** What of the element is loaded late is loaded again, if it could not be, with the next file or by a button. */
    async #loadedShell(): Promise<Shell | undefined> {
      const loading = this.#shell ??= this.#build()
      try {
        return await loading
      } catch {
        if (this.#shell === loading) this.#shell = undefined
        this.#showProblem()
        return undefined
      }
    }

    async #build(): Promise<Shell> {
      const { build } = await imported(() => import("./element/shell.js"))
      const shell = await build(this, this.#root, this.#internals, (files) => void this.#take(ofFiles(files)))
      this.#problem.remove()
      // what was reserved is there
      this.#root.adoptedStyleSheets = this.#root.adoptedStyleSheets.filter((sheet) => sheet !== this.#reserved)
      this.#built = shell
      this.#showForm()
      if (this.hasAttribute("autofocus") && document.activeElement === document.body) this.focus()
      return shell
    }

    async #load(): Promise<View | undefined> {
      const shell = await this.#loadedShell()
      if (shell === undefined) return undefined
      const loading = this.#view ??= this.#open(shell)
      try {
        return await loading
      } catch {
        if (this.#view === loading) this.#view = undefined
        this.#showProblem()
        return undefined
      }
    }

    async #open({ words }: Shell): Promise<View> {
      const { open } = await imported(() => import("./element/view.js"))
      this.#problem.remove()
      isInUse ||= this.queueName !== ""
      const view = open(this, this.#root, words, (snapshot) => this.#showForm(snapshot))
      this.#queue = view.queue
      return view
    }

    #showProblem(): void {
      const language = (this.closest<HTMLElement>("[lang]")?.lang || navigator.language).split("-")[0] ?? ""
      const [text, again] = notLoaded[language] ?? notLoaded["en"] ?? []
      const button = document.createElement("button")
      button.type = "button"
      button.append(again ?? "")
      button.addEventListener("click", () => void (this.#waiting.length > 0 ? this.#take([]) : this.#show()))
      const names = this.#waiting.flatMap(({ file }) => file?.name ?? [])
      this.#problem.role = "alert"
      this.#problem.className = "error"
      this.#problem.replaceChildren([text, names.join(", ")].join(" "), " ", button)
      ;(this.#built?.all ?? this.#root).append(this.#problem)
      this.#showForm()
    }

    /** What the form has of it, and whether that may be sent. */
    #showForm(snapshot: Snapshot | undefined = this.queue?.getSnapshot()): void {
      const { form } = this.#built ?? {}
      form?.show(snapshot)
      const [text = ""] = notLoaded["en"] ?? []
      if (this.#custom !== "") this.#internals.setValidity({ customError: true }, this.#custom, form?.anchor)
      else if (this.#waiting.length > 0) {
        this.#internals.setValidity({ customError: true }, this.#problem.textContent || text)
      } else if (form === undefined) this.#internals.setValidity(this.required ? { valueMissing: true } : {}, text)
    }

    async #take(given: ReadonlyArray<Arrival>): Promise<void> {
      if (this.matches(":disabled")) return
      this.#waiting = [...this.#waiting, ...given]
      this.#showForm()
      const view = await this.#load()
      if (view === undefined) return this.#tellFailed(given)
      const taken = this.#waiting
      this.#waiting = []
      await view.take(taken)
      this.#showForm()
    }

    #tellFailed(given: ReadonlyArray<Arrival>): void {
      for (const { file } of given) {
        if (file === null) continue
        const { name, size, type: mediaType } = file
        const error = { tag: "NotLoaded", message: "What uploads could not be loaded: the file waits in the element" }
        const item = { id: "", name, size, mediaType, state: "failed", sent: 0, confirmed: 0, error } as const
        const none = { speed: undefined, secondsLeft: undefined, stalled: false, kept: false, result: undefined }
        const detail: Details["failed"] = { item: { ...item, ...none } }
        this.dispatchEvent(new CustomEvent("failed", { detail, bubbles: true, composed: true }))
      }
    }

    #listen(signal: AbortSignal): void {
      let left: ReturnType<typeof setTimeout> | undefined
      const leave = () => this.removeAttribute("data-over")
      const isOver = (event: Event): event is DragEvent =>
        hasFiles(event) && (this.wholePage || event.composedPath().includes(this))
      // before anybody can stop it: a frame goes when its drag does
      const capturing = { signal, capture: true }
      window.addEventListener("dragover", (event) => {
        clearTimeout(left)
        this.toggleAttribute("data-over", isOver(event) && !this.matches(":disabled"))
        left = setTimeout(leave, longestPause)
      }, capturing)
      for (const end of ["drop", "dragend"]) window.addEventListener(end, leave, capturing)
      // text and links that are dragged are the page's own business, and a file that a disabled one does not take
      window.addEventListener("dragover", (event) => {
        if (!isOver(event)) return
        if (!this.matches(":disabled")) return event.preventDefault()
        // a browser would open it
        if (event.defaultPrevented || !event.composedPath().includes(this)) return
        event.preventDefault()
        if (event.dataTransfer !== null) event.dataTransfer.dropEffect = "none"
      }, { signal })
      window.addEventListener("drop", (event) => {
        // another one has taken it
        if (!isOver(event) || event.defaultPrevented || this.matches(":disabled")) return
        event.preventDefault()
        if (event.dataTransfer !== null) void this.#take(arrivalsOf(event.dataTransfer))
      }, { signal })
      window.addEventListener("paste", (event) => {
        const arrivals = event.clipboardData === null ? [] : arrivalsOf(event.clipboardData)
        if (event.defaultPrevented || arrivals.length === 0 || isEditable(event.composedPath()[0])) return
        const focused = event.composedPath().find((target) => elements.has(target))
        if (this.matches(":disabled") || (focused === undefined ? !isSeen(this) : focused !== this)) return
        event.preventDefault()
        void this.#take(arrivals)
      }, { signal })
      // a click on its label
      this.addEventListener("click", (event) => {
        if (event.composedPath()[0] === this) this.#built?.form.anchor.click()
      }, { signal })
      // the closest language may change anywhere above
      const languages = new MutationObserver(() => {
        if (this.#built !== undefined && this.#built.language !== this.#built.languageNow()) this.#rebuild()
      })
      languages.observe(document, { attributes: true, attributeFilter: ["lang"], subtree: true })
      signal.addEventListener("abort", () => languages.disconnect())
    }
  }
  customElements.define(name, Upload)
}

define("stevedore-upload")
