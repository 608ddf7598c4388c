import type { UploadProgress } from "@stevedore/core/UploadProgress"
import type { UnfinishedUpload } from "@stevedore/core/Uploads"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { NamedAddition, Wait } from "./entry.js"
import type { Existing, Item, ItemState, Snapshot, Totals } from "./model.js"

const still = { speed: undefined, secondsLeft: undefined, stalled: false, waitingFor: undefined, retryIn: undefined }

const untouched = { ...still, confirmed: 0, kept: false, error: undefined, result: undefined }

export const added = (id: string, { file, metadata, name }: NamedAddition): Item => ({
  ...untouched,
  metadata,
  id,
  name,
  size: file.size,
  mediaType: file.type,
  state: "queued",
  sent: 0
})

/** Nothing of it was sent by this queue. */
export const uploaded = (key: string, { id, name, size = 0, type = "" }: Existing): Item => ({
  ...untouched,
  id: key,
  name,
  size,
  mediaType: type,
  state: "completed",
  sent: size,
  confirmed: size,
  result: { id, name, size, type, sent: { bytes: 0, parts: 0, sessions: 0, checksum: undefined, proof: "unproven" } }
})

export const leftOver = (
  id: string,
  { confirmed, mediaType, metadata, name, size }: UnfinishedUpload,
  kept: boolean
): Item => ({
  ...untouched,
  id,
  name,
  size,
  mediaType,
  state: "needs-file",
  sent: confirmed,
  confirmed,
  kept,
  metadata
})

/** Returns the same item if nothing changes, for consumers that compare references. */
export const changed = (item: Item, changes: Partial<Item>): Item => {
  const next = { ...item, ...changes }
  return Object.entries(next).every(([key, value]) => Object.is(value, Reflect.get(item, key))) ? item : next
}

// How an upload ended is shown together with its result or its error, which are not known yet
const states: { readonly [Phase in UploadProgress["phase"]]?: ItemState } = {
  preparing: "preparing",
  uploading: "uploading",
  paused: "paused",
  completing: "finishing"
}

// A paused item keeps its state until completion starts. If completion is refused and parts have to be sent again, it
// is paused again.
const shownState = (item: Item, state: ItemState, waits: boolean): ItemState => {
  if (!waits || state === "finishing") return state
  return item.state === "finishing" ? "paused" : item.state
}

/** The visible state of a running upload. */
export const progressed = (item: Item, progress: UploadProgress, waits: boolean): Item => {
  const state = states[progress.phase]
  if (state === undefined) return item
  // once all is handed over, only answers are awaited: storage's, then the service's
  const awaited = state === "uploading" && progress.sent === progress.size
  const shown = shownState(item, awaited && !waits ? "finishing" : state, waits)
  const uploading = shown === "uploading"
  const stalled = uploading && Option.isSome(progress.stalledSince)
  const moving = uploading && !stalled
  return changed(item, {
    state: shown,
    sent: Math.max(item.sent, progress.sent),
    confirmed: progress.confirmed,
    speed: moving ? Option.getOrUndefined(Option.map(progress.speed, Math.round)) : undefined,
    secondsLeft: moving
      ? Option.getOrUndefined(
        Option.filter(Option.map(progress.timeLeft, (left) => Math.ceil(Duration.toSeconds(left))), Number.isFinite)
      )
      : undefined,
    stalled
  })
}

const waiters: Readonly<Record<string, Wait["waitingFor"] | undefined>> = {
  ConnectionFailed: "network",
  TimedOut: "network",
  RateLimited: "limit",
  ServiceUnavailable: "server",
  InvalidResponse: "server"
}

/** What is waited for after an error with this tag: whatever is not the network's or the service's is storage's. */
export const waiterOf = (tag: string): Wait["waitingFor"] => waiters[tag] ?? "storage"

/** Says what a running upload waits for, and for how long still. */
export const waited = (item: Item, wait: Wait | undefined, now: number): Item => {
  const isRunning = item.state === "preparing" || item.state === "uploading" || item.state === "finishing"
  const retryIn = Math.ceil(((wait?.until ?? 0) - now) / 1000)
  const isWaiting = isRunning && retryIn > 0
  return changed(item, {
    waitingFor: isWaiting ? wait?.waitingFor : undefined,
    retryIn: isWaiting ? retryIn : undefined
  })
}

/** Sets the state of an item in which nothing moves any more. */
export const settled = (item: Item, changes: Partial<Item>): Item => changed(item, { ...still, ...changes })

export const isOver = ({ state }: Item): boolean => state === "completed" || state === "failed" || state === "cancelled"

const sum = (items: ReadonlyArray<Item>, of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0)

const totalOf = (state: ItemState): ItemState =>
  state === "queued" || state === "preparing" || state === "finishing" ? "uploading" : state

const stateOf = (items: ReadonlyArray<Item>): Totals["state"] =>
  (["uploading", "paused", "ready", "failed", "completed"] as const)
    .find((total) => items.some(({ state }) => totalOf(state) === total)) ?? "idle"

/**
 * The bytes still to send. After a pause they are more than `size - sent`: what was in flight is sent again, and `sent`
 * does not decrease.
 */
const leftOf = (item: Item): number => {
  if (isOver(item) || item.state === "finishing") return 0
  return item.secondsLeft === undefined
    ? item.size - item.confirmed
    : Math.min(item.size, (item.speed ?? 0) * item.secondsLeft)
}

const totalsOf = (items: ReadonlyArray<Item>): Totals => {
  const counted = items.filter(({ state }) => state !== "cancelled")
  const size = sum(counted, (item) => item.size)
  const sent = sum(counted, (item) => item.sent)
  const speed = sum(counted, (item) => item.speed ?? 0)
  const left = sum(counted, leftOf)
  return {
    state: stateOf(counted),
    files: counted.length,
    completed: counted.filter(({ state }) => state === "completed").length,
    failed: counted.filter(({ state }) => state === "failed").length,
    size,
    sent,
    confirmed: sum(counted, (item) => item.confirmed),
    speed: speed > 0 ? speed : undefined,
    secondsLeft: speed > 0 ? Math.ceil(left / speed) : undefined
  }
}

const kept = (before: ReadonlyArray<Item>, now: ReadonlyArray<Item>): ReadonlyArray<Item> =>
  before.length === now.length && now.every((item, index) => item === before[index]) ? before : now

export const empty: Snapshot = { items: [], unfinished: [], totals: totalsOf([]) }

/** Returns the same snapshot, and the same lists, if nothing in them changes. */
export const snapshotOf = (before: Snapshot, all: ReadonlyArray<Item>): Snapshot => {
  const items = kept(before.items, all.filter(({ state }) => state !== "needs-file"))
  const unfinished = kept(before.unfinished, all.filter(({ state }) => state === "needs-file"))
  if (items !== before.items) return { items, unfinished, totals: totalsOf(items) }
  return unfinished === before.unfinished ? before : { ...before, unfinished }
}
