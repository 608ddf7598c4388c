import { isValid } from "@stevedore/core/Metadata"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BrowserStevedore from "../BrowserStevedore.js"
import * as FileHandles from "../FileHandles.js"
import { additionOf } from "../queue/entry.js"
import type { Item, Limits, Snapshot } from "../queue/model.js"
import * as ScreenWakeLock from "../ScreenWakeLock.js"
import * as UnloadWarning from "../UnloadWarning.js"
import type { OwnedUploadQueue } from "../UploadQueue.js"
import * as UploadQueue from "../UploadQueue.js"
import * as Words from "../words.js"
import { english } from "../words/english.js"
import type { Arrival } from "./arrivals.js"
import type { Attributes } from "./attributes.js"
import { read } from "./attributes.js"
import { adopt, make } from "./dom.js"
import { uploadedOf } from "./form.js"
import { intakeOf } from "./intake.js"
import { makeLists } from "./lists.js"
import type { Details, StevedoreUpload } from "./model.js"
import { makeRefusals } from "./refusals.js"
import { makeSummary } from "./summary.js"
import { style } from "./viewStyle.js"

/** The largest file of the standard profile. */
const largestFile = 10_000_000_000

const limitsOf = (host: StevedoreUpload, attributes: Attributes): Limits & { readonly size: number } => {
  const limits: Limits = { ...attributes.limits, ...host.limits }
  return { ...limits, size: limits.size ?? largestFile }
}

/** A queue that an element has made, and what it was made of. */
interface Made {
  readonly of: string
  readonly layer: StevedoreUpload["layer"]
  readonly queue: OwnedUploadQueue
}

const made = new Set<Made>()

/** The views that are open: elements without a name do not share a queue at the same time. */
const views = new Set<{ readonly queue: OwnedUploadQueue }>()

const isShown = (queue: OwnedUploadQueue): boolean => Array.from(views).some((view) => view.queue === queue)

/** The element's own queue, or that of an element of its kind which is gone, or a new one. */
const queueOf = (host: StevedoreUpload, { autostart, files }: Attributes, limits: Limits): OwnedUploadQueue => {
  if (host.queue !== undefined) return host.queue
  const { layer, upload } = host
  const [baseUrl, name] = [host.getAttribute("base-url") ?? "/api", host.getAttribute("name")]
  const of = JSON.stringify([baseUrl, name, files, autostart, limits, upload])
  const left = Array.from(made).find((one) =>
    one.of === of && one.layer === layer && (name !== null || !isShown(one.queue))
  )
  if (left !== undefined) return left.queue
  const own = UploadQueue.make({
    layer: layer ?? Layer.merge(BrowserStevedore.layer({ baseUrl }), FileHandles.layer()),
    files,
    autostart,
    limits,
    upload,
    during: Effect.zipRight(UnloadWarning.scoped, ScreenWakeLock.scoped)
  })
  const queue: OwnedUploadQueue = {
    ...own,
    dispose: () => {
      made.delete(entry)
      return own.dispose()
    }
  }
  const entry: Made = { of, layer, queue }
  made.add(entry)
  return queue
}

export interface View {
  readonly queue: OwnedUploadQueue
  readonly take: (arrivals: ReadonlyArray<Arrival>) => Promise<void>
  /** Takes away everything that {@link open} made, but for the queue. */
  readonly close: () => void
}

/** Asks for a file that is needed again. */
const makeAsking = (queue: OwnedUploadQueue) => {
  let wanted: string | undefined
  const element = make("input", { type: "file", id: "again", hidden: "" })
  element.addEventListener("change", () => {
    const file = element.files?.item(0) ?? undefined
    if (wanted !== undefined && file !== undefined) queue.giveFile(wanted, file)
    element.value = ""
  })
  return {
    element,
    giveFile: ({ id, kept }: Item): void => {
      if (kept) return queue.allow(id)
      wanted = id
      element.click()
    }
  }
}

const idsOf = (snapshot: Snapshot): ReadonlyArray<string> => uploadedOf(snapshot).map(({ id }) => id)

/** What a page's developer may have caused, such as by a wrong base URL or by CORS. */
const developers: ReadonlySet<Words.Reason> = new Set<Words.Reason>(["owner", "signedOut", "connection"])

/** The kinds of failures that the console has been told of: each is told once in a page. */
const toldOf = new Set<string>()

/** Everything below the place to drop. */
export const open = (host: StevedoreUpload, root: ShadowRoot, showForm: (snapshot: Snapshot) => void): View => {
  const words = host.words ?? english
  const attributes = read(host, isValid)
  const limits = limitsOf(host, attributes)
  const queue = queueOf(host, attributes, limits)
  queue.addUploaded(host.existing ?? [])
  /** The files that are being added, by name and size. */
  const arriving = new Map<string, Blob>()
  const emit = <K extends keyof Details>(type: K, detail: Details[K]) =>
    host.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
  adopt(root, style)
  const all = root.getElementById("all")
  const announcements = root.getElementById("announcements")
  const focusOnChoosing = () => root.getElementById("choose-files")?.focus()
  const tell = (text: string): void => {
    if (announcements !== null && announcements.textContent !== text) announcements.textContent = text
  }

  const refusals = makeRefusals(words, focusOnChoosing)
  const asking = makeAsking(queue)
  const lists = makeLists({
    queue,
    words,
    limits,
    giveFile: asking.giveFile,
    fileOf: ({ name, size }) => arriving.get(`${size} ${name}`),
    linkOf: (item) => host.linkOf?.(item),
    announce: tell
  }, focusOnChoosing)
  const summary = makeSummary(queue, words, focusOnChoosing)
  const section = make(
    "section",
    { id: "queue", part: "queue", "aria-label": Words.say(words, "yourFiles"), hidden: "" },
    summary.element,
    lists.files
  )
  const offline = make("p", { id: "offline", part: "offline", hidden: "" })

  let before: Snapshot = queue.getSnapshot()
  let news = ""

  const announce = ({ totals }: Snapshot, earlier: Snapshot): void => {
    const isOffline = !navigator.onLine
    const away = Words.say(words, totals.state === "uploading" ? "offline" : "offlineIdle")
    offline.hidden = !isOffline
    offline.textContent = away
    const latest = isOffline ? away : Words.announcement(words, totals)
    // beside finished files, new ones start at some quarter, which is no news
    const starts = !isOffline && totals.state === "uploading" && earlier.totals.state !== "uploading"
    if (starts) tell(Words.say(words, "isUploading", { count: totals.files }))
    else if (latest !== news) tell(latest)
    news = latest
  }

  const tellDeveloper = ({ error }: Item): void => {
    if (error === undefined || error.reason !== undefined || !developers.has(Words.reasonOf(error))) return
    const kind = `${error.tag} ${error.status ?? ""}`
    // eslint-disable-next-line no-console -- for the developer of the page: a visitor cannot do anything about it
    if (!toldOf.has(kind)) console.error(`<${host.localName}>: ${error.message}`)
    toldOf.add(kind)
  }

  const emitChanges = (now: Snapshot, earlier: Snapshot): void => {
    const known = new Map([...earlier.items, ...earlier.unfinished].map((item) => [item.id, item]))
    for (const item of now.items) {
      const { id, state } = item
      const before = known.get(id)
      known.delete(id)
      // what was uploaded before is no news
      if (before?.state === state || before === undefined && state === "completed") continue
      if (state === "failed") tellDeveloper(item)
      if (state === "completed" || state === "failed" || state === "paused") emit(state, { item })
    }
    for (const { id } of now.unfinished) known.delete(id)
    for (const item of known.values()) emit("removed", { item })
    const value = idsOf(now)
    if (value.join() !== idsOf(earlier).join()) emit("changed", { value, snapshot: now })
    if (earlier.totals.state === "uploading" && now.totals.state !== "uploading") emit("idle", { totals: now.totals })
  }

  let isHeld = false
  // no button moves away from under a pointer, except at the end. A finger leaves its hover behind
  const isPointedAt = () =>
    queue.getSnapshot().totals.state !== "completed" && section.matches(":hover")
    && section.querySelector("button:hover") !== null && matchMedia("(hover: hover)").matches

  const show = (): void => {
    const snapshot = queue.getSnapshot()
    const { items, unfinished } = snapshot
    isHeld = isPointedAt()
    // nothing in a hidden section can be focused
    if (items.length > 0) section.hidden = false
    lists.show(snapshot, isPointedAt)
    summary.show(snapshot)
    section.hidden = items.length === 0
    all?.classList.toggle("compact", items.length + unfinished.length > 0)
    const earlier = before
    // a listener may change the queue, and with it what is shown
    before = snapshot
    announce(snapshot, earlier)
    showForm(snapshot)
    emitChanges(snapshot, earlier)
  }

  const elements = [refusals.element, lists.unfinished, section, offline, asking.element]
  all?.append(...elements)
  const unsubscribe = queue.subscribe(show)
  const view = { queue }
  views.add(view)
  show()
  section.addEventListener("pointerout", () => {
    if (isHeld) show()
  })
  const showOnline = () => announce(before, before)
  const away = new AbortController()
  addEventListener("online", showOnline, away)
  addEventListener("offline", showOnline, away)

  return {
    queue,
    close: () => {
      views.delete(view)
      unsubscribe()
      away.abort()
      for (const element of elements) element.remove()
      all?.classList.remove("compact")
      root.adoptedStyleSheets.pop()
    },
    take: async (arrivals) => {
      const intake = await intakeOf(arrivals)
      if (intake.additions.length + intake.refused.length === 0) return
      const additions = intake.additions.map(additionOf)
      for (const { file, name } of additions) arriving.set(`${file.size} ${name}`, file)
      const now = read(host, isValid)
      const metadata = host.metadata ?? now.metadata ?? host.upload?.metadata
      const { ids, refused } = queue.add(now.areWrong ? [] : additions.map((addition) => ({ ...addition, metadata })))
      arriving.clear()
      const told: Details["refused"]["refused"] = [
        ...intake.refused.map(({ name, reason }) => ({
          name,
          size: 0,
          reason: reason === "emptyFolder" ? "EmptyFolder" as const : "Unreadable" as const,
          message: Words.text(words, words.reasons[reason])
        })),
        ...now.areWrong
          ? additions.map(({ file: { size }, name }) => ({
            name,
            size,
            reason: "WrongAttribute" as const,
            message: Words.text(words, words.reasons.owner)
          }))
          : [],
        ...refused.map((refusal) => ({ ...refusal, message: Words.refusal(words, refusal, limits) }))
      ]
      refusals.show(told)
      if (told.length > 0) emit("refused", { refused: told })
      const accepted = new Set(ids)
      if (ids.length > 0) emit("added", { items: queue.getSnapshot().items.filter(({ id }) => accepted.has(id)) })
    }
  }
}
