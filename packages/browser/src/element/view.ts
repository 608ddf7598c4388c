import { isValid } from "@stevedore/core/Metadata"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BrowserStevedore from "../BrowserStevedore.js"
import * as FileHandles from "../FileHandles.js"
import { additionOf } from "../queue/entry.js"
import type { Added, Addition, Existing, Item, Snapshot } from "../queue/model.js"
import * as ScreenWakeLock from "../ScreenWakeLock.js"
import * as UnloadWarning from "../UnloadWarning.js"
import type { OwnedUploadQueue } from "../UploadQueue.js"
import * as UploadQueue from "../UploadQueue.js"
import * as Words from "../words.js"
import type { Arrival } from "./arrivals.js"
import { read } from "./attributes.js"
import { adopt, make } from "./dom.js"
import { uploadedOf } from "./form.js"
import { intakeOf } from "./intake.js"
import { makeLists } from "./lists.js"
import type { Details, ElementRefusal, StevedoreUpload } from "./model.js"
import { makeRefusals, makeUndo } from "./refusals.js"
import { makeSummary } from "./summary.js"
import { style } from "./viewStyle.js"

/** A queue with a name, and the element that was given it last. */
interface Named {
  readonly of: string
  readonly layer: StevedoreUpload["layer"]
  readonly queue: OwnedUploadQueue
  host: StevedoreUpload
}

const named = new Set<Named>()

const made = (first: StevedoreUpload, name?: string, current = () => first): OwnedUploadQueue => {
  const { baseUrl, layer, upload } = first
  const { autostart, files } = read(first)
  return UploadQueue.make({
    layer: layer ?? Layer.merge(BrowserStevedore.layer({ baseUrl: baseUrl || "/api" }), FileHandles.layer()),
    name,
    offerUnfinished: name !== undefined,
    files,
    autostart,
    get limits() {
      return { ...read(current()).limits, ...current().limits }
    },
    upload,
    during: Effect.zipRight(UnloadWarning.scoped, ScreenWakeLock.scoped)
  })
}

/** The queue that the element was given, or that of its name, or else one of its own. */
const queueOf = (host: StevedoreUpload): OwnedUploadQueue => {
  if (host.queue !== undefined) return host.queue
  const { baseUrl, layer, queueName } = host
  if (queueName === "") return made(host)
  const of = JSON.stringify([baseUrl, queueName])
  const known = Array.from(named).find((one) => one.of === of && one.layer === layer)
  if (known !== undefined) {
    known.host = host
    return known.queue
  }
  const own = made(host, queueName, () => entry.host)
  const queue: OwnedUploadQueue = {
    ...own,
    dispose: () => {
      named.delete(entry)
      return own.dispose()
    }
  }
  const entry: Named = { of, layer, queue, host }
  named.add(entry)
  return queue
}

/** The value that an element has told last. */
const lastValues = new WeakMap<StevedoreUpload, string>()

/** The ids that a queue began with. */
const begun = new WeakMap<OwnedUploadQueue, string>()

/** What was uploaded before is added once: another view of the queue does not bring back what was taken out. */
const begin = (queue: OwnedUploadQueue, existing: ReadonlyArray<Existing>): void => {
  const ids = JSON.stringify(existing.map(({ id }) => id))
  if (begun.get(queue) !== ids) queue.addUploaded(existing)
  begun.set(queue, ids)
}

export interface View {
  readonly queue: OwnedUploadQueue
  readonly take: (arrivals: ReadonlyArray<Arrival>) => Promise<void>
  /** Takes files that were uploaded before in place of others. */
  readonly replace: (files: Iterable<Existing>, before: ReadonlyArray<Existing>) => void
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

/** Adds files. Where only one is accepted, it takes the place of the one that is there. */
const added = (queue: OwnedUploadQueue, additions: ReadonlyArray<Addition>): Added => {
  const first = queue.add(additions)
  const isFull = first.ids.length === 0 && first.refused.some(({ reason }) => reason === "TooMany")
  if (queue.getLimits().files !== 1 || !isFull) return first
  for (const { id } of queue.getSnapshot().items) queue.remove(id)
  return queue.add(additions)
}

/** Pictures that are pasted have one name in all browsers: the second is called so. */
const namedApart = (queue: OwnedUploadQueue) => {
  const names = new Set(queue.getSnapshot().items.map(({ name }) => name))
  return <A extends Addition & { readonly name: string }>(addition: A): A => {
    const [whole, start, end] = /^(image)(\.\w+)$/.exec(addition.name) ?? []
    if (whole === undefined) return addition
    let name = whole
    for (let number = 2; names.has(name); number++) name = `${start} ${number}${end}`
    names.add(name)
    return { ...addition, name }
  }
}

const idsOf = (snapshot: Snapshot): ReadonlyArray<string> => uploadedOf(snapshot).map(({ id }) => id)

/** What a page's developer may have caused, such as by a wrong base URL or by CORS. */
const developers: ReadonlySet<Words.Reason> = new Set<Words.Reason>(["owner", "signedOut", "connection"])

/** The kinds of failures that the console has been told of: each is told once in a page. */
const toldOf = new Set<string>()

/** Everything below the place to drop. */
export const open = (
  host: StevedoreUpload,
  root: ShadowRoot,
  words: Words.Words,
  showForm: (snapshot: Snapshot) => void
): View => {
  const queue = queueOf(host)
  begin(queue, host.existing ?? [])
  /** The files that are being added, by name and size. */
  const arriving = new Map<string, Blob>()
  const emit = <K extends keyof Details>(type: K, detail: Details[K]) =>
    host.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }))
  const strip = adopt(root, style)
  const all = root.getElementById("all")
  const announcements = root.getElementById("announcements")
  const focusOnChoosing = () => root.getElementById("choose-files")?.focus()
  const tell = (text: string): void => {
    if (announcements !== null && announcements.textContent !== text) announcements.textContent = text
  }

  const refusals = makeRefusals(words, focusOnChoosing)
  const undo = makeUndo(words)
  const asking = makeAsking(queue)
  const lists = makeLists(
    {
      queue,
      words,
      limits: queue.getLimits,
      giveFile: asking.giveFile,
      takeOut: ({ id, name }) => {
        undo.show(name, queue.takeOut(id))
        tell(Words.say(words, "removed", { name: Words.nameOf(words, name) }))
      },
      linkOf: (item) => host.linkOf?.(item),
      announce: tell
    },
    ({ name, size }) => arriving.get(`${size} ${name}`),
    focusOnChoosing
  )
  const summary = makeSummary(queue, words, focusOnChoosing, () => host.form !== null || host.name !== "")
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
    const ids = idsOf(now)
    const isChanged = ids.join() !== (lastValues.get(host) ?? "")
    lastValues.set(host, ids.join())
    if (isChanged) emit("changed", { value: ids, snapshot: now })
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

  const elements = [refusals.element, lists.unfinished, section, undo.element, offline, asking.element]
  all?.append(...elements)
  const unsubscribe = queue.subscribe(show)
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
      unsubscribe()
      away.abort()
      for (const element of elements) element.remove()
      all?.classList.remove("compact")
      strip()
    },
    replace: (files, before) => {
      const wanted = Array.from(files)
      const gone = new Set(before.map(({ id }) => id))
      for (const { id } of wanted) gone.delete(id)
      for (const { id, result } of queue.getSnapshot().items) if (gone.has(result?.id ?? "")) queue.remove(id)
      begin(queue, wanted)
    },
    take: async (arrivals) => {
      const intake = await intakeOf(arrivals)
      if (intake.additions.length + intake.refused.length === 0) return
      const additions = intake.additions.map(additionOf).map(namedApart(queue))
      for (const { file, name } of additions) arriving.set(`${file.size} ${name}`, file)
      const now = read(host, isValid)
      const metadata = host.metadata ?? now.metadata ?? host.upload?.metadata
      const { ids, refused } = added(
        queue,
        now.areWrong ? [] : additions.map((addition) => ({ ...addition, metadata }))
      )
      arriving.clear()
      const refusalOf = (name: string, size: number, told: Words.Reason): ElementRefusal => ({
        name,
        size,
        reason: told === "emptyFolder" ? "EmptyFolder" : told === "owner" ? "WrongAttribute" : "Unreadable",
        message: Words.text(words, words.reasons[told])
      })
      const told: ReadonlyArray<ElementRefusal> = [
        ...intake.refused.map(({ name, reason }) => refusalOf(name, 0, reason)),
        ...now.areWrong ? additions.map(({ file: { size }, name }) => refusalOf(name, size, "owner")) : [],
        ...refused.map((refusal) => ({ ...refusal, message: Words.refusal(words, refusal, queue.getLimits()) }))
      ]
      refusals.show(told)
      if (told.length > 0) emit("refused", { refused: told })
      const accepted = new Set(ids)
      if (ids.length > 0) emit("added", { items: queue.getSnapshot().items.filter(({ id }) => accepted.has(id)) })
    }
  }
}
