/**
 * What visitors of a page read about uploads: states, refusals and errors, with numbers and times by `Intl`. Nothing here
 * speaks of what only developers know.
 */
import type * as ErrorKind from "@stevedore/core/ErrorKind"
import type { Failure, Item, Limits, Refusal, Totals } from "./queue/model.js"
import { bytes, formatOf, say, text, types, unit } from "./words/format.js"
import type { Reason, Words } from "./words/model.js"

/**
 * What a language has words for.
 *
 * @category models
 */
export type * from "./words/model.js"

export {
  /**
   * A number of bytes, such as `5.2 MB`, in units of 1000, with so many digits after the point at least.
   *
   * @category formatting
   */
  bytes,
  /**
   * What may be added, in a line: `Images or PDF, up to 2 MB, at most 4`.
   *
   * @category formatting
   */
  limits,
  /**
   * Loads the words of a language, such as `de-CH`, when they are needed. English, German, Spanish, French, Japanese and
   * Arabic are known; for others, and if a language cannot be loaded, these are English.
   *
   * @category languages
   */
  load,
  /**
   * The message for a key.
   *
   * @category formatting
   */
  say,
  /**
   * A message with its values. Numbers are formatted, and `count` chooses the plural.
   *
   * @category formatting
   */
  text,
  /**
   * What is accepted, as visitors call it: `images or PDF` for images of any type and `.pdf`.
   *
   * @category formatting
   */
  types
} from "./words/format.js"

/**
 * The tag of an error of `@stevedore/core`.
 *
 * @category models
 */
export type Tag = keyof typeof ErrorKind.table

/**
 * What each error means to a visitor.
 *
 * @category constants
 */
export const reasons: { readonly [tag in Tag]: Reason } = {
  InvalidConfiguration: "owner",
  EmptySource: "empty",
  InvalidSource: "name",
  SourceChanged: "changed",
  SourceUnreadable: "unreadable",
  SizeExceeded: "tooLarge",
  InvalidPartCount: "owner",
  InvalidUploadOption: "owner",
  UnfinishedUploadNotFound: "gone",
  UploadLocked: "otherTab",
  DeadlineUnreachable: "slow",
  ConnectionFailed: "connection",
  TimedOut: "slow",
  SignedHeaderMissing: "owner",
  SignatureMismatch403: "owner",
  UrlExpired: "slow",
  UrlNotYetValid: "owner",
  UrlAltered: "owner",
  HeadersNotSigned: "owner",
  StorageForbidden: "owner",
  StorageRejected: "owner",
  StorageUnavailable: "later",
  EtagMissing: "owner",
  ChecksumMismatch: "damaged",
  Unauthorized: "signedOut",
  Forbidden: "notAllowed",
  NotFound: "startOver",
  UploadConflict: "startOver",
  RequestRejected: "owner",
  RateLimited: "busy",
  ServiceUnavailable: "later",
  InvalidResponse: "signedOut",
  CompletionUnknown: "unconfirmed",
  StoredSizeDiffers: "damaged",
  ContentDiffers: "damaged",
  ContentUnverified: "unconfirmed",
  DownloadIncomplete: "connection",
  DownloadCorrupted: "damaged",
  InvalidChecksum: "owner",
  InvalidRange: "owner",
  InvalidPageSize: "owner",
  InvalidListOption: "owner",
  CheckpointMismatch: "owner",
  CursorRejected: "owner",
  PaginationBroken: "owner",
  ItemInvalid: "owner"
}

const refusals: { readonly [reason in Refusal["reason"]]: Reason } = {
  Empty: "empty",
  TooLarge: "tooLargeFor",
  WrongType: "wrongType",
  Duplicate: "duplicate",
  TooMany: "tooMany",
  TotalTooLarge: "totalTooLarge"
}

const isIn = <K extends string>(table: Readonly<Record<K, Reason>>, key: string): key is K => Object.hasOwn(table, key)

/**
 * The time that is left, such as `3 minutes left`.
 *
 * @category formatting
 */
export const timeLeft = (words: Words, seconds: number): string => {
  if (seconds < 5) return say(words, "secondsLeft")
  const minutes = Math.ceil(seconds / 60)
  const hours = Math.floor(minutes / 60)
  const of = (value: number, name: string, display: "short" | "long" = "long") =>
    unit(words.language, name, display, 0).format(value)
  const time = seconds < 60
    ? of(Math.ceil(seconds / 5) * 5, "second")
    : hours === 0
    ? of(minutes, "minute")
    // in full, it would need another line on a narrow screen
    : [of(hours, "hour", "short"), ...minutes % 60 === 0 ? [] : [of(minutes % 60, "minute", "short")]].join(" ")
  return say(words, "timeLeft", { time })
}

/**
 * How much of the size was sent, from 0 to 100.
 *
 * @category formatting
 */
export const percent = ({ sent, size }: Pick<Item, "sent" | "size">): number =>
  size === 0 ? 0 : Math.floor((100 * sent) / size)

/**
 * The same as text, such as `42%`.
 *
 * @category formatting
 */
export const percentage = ({ language }: Pick<Words, "language">, of: Pick<Item, "sent" | "size">): string =>
  formatOf(language, { style: "percent" }).format(percent(of) / 100)

// they would hide or reorder the rest of a name: one can make notes_fdp.exe look like notes_exe.pdf
const deceiving = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/**
 * A name as it is shown: without invisible characters that make it look like another, and a very long one without its
 * middle, because files of a folder differ at the ends of their names.
 *
 * @category formatting
 */
export const nameOf = (words: Words, whole: string): string => {
  const characters = Array.from(plainName(words, whole))
  return characters.length <= 100
    ? characters.join("")
    : [...characters.slice(0, 59), "…", ...characters.slice(-40)].join("")
}

const plainName = (words: Words, whole: string): string =>
  whole.trim() === "" ? say(words, "unnamed") : whole.replace(deceiving, "\ufffd")

/**
 * The same in two parts, however long it is: where there is too little room, the first one is cut at its end. No word is
 * parted that need not be, because the letters of some scripts join.
 *
 * @category formatting
 */
export const nameInParts = (words: Words, whole: string): readonly [start: string, end: string] => {
  const name = plainName(words, whole)
  // the end is at most half of it
  const { length } = Array.from(name)
  const between = new RegExp(`[\\s_/.(\\p{Pd}].{3,${Math.max(3, Math.min(12, Math.floor(length / 2) - 1))}}$`, "u")
  const [end = ""] = between.exec(name) ?? /.{6}$/u.exec(name) ?? []
  return length <= 12 ? [name, ""] : [name.slice(0, name.length - end.length), end]
}

/**
 * Why a file was refused, and which limit it exceeds.
 *
 * @category errors
 */
export const refusal = (
  words: Words,
  { reason, size }: Pick<Refusal, "reason" | "size">,
  limits: Limits
): string =>
  text(words, words.reasons[refusals[reason]], {
    size: bytes(words, size),
    limit: bytes(words, (reason === "TotalTooLarge" ? limits.total : limits.size) ?? 10_000_000_000),
    types: types(words, limits.accept ?? []),
    count: limits.files ?? 0
  })

// What an answer means beyond its tag
const answers: ReadonlyArray<readonly [fits: (error: Failure) => boolean, reason: Reason]> = [
  // perhaps a proxy's, which knows no tags
  [({ status }) => status === 413, "tooLarge"],
  // there is no upload that was stopped: the base URL is wrong
  [({ operation = "", tag }) => tag === "NotFound" && operation.startsWith("initiate"), "owner"]
]

/**
 * What an error means to a visitor. An unknown one is the site's.
 *
 * @category errors
 */
export const reasonOf = (error: Failure): Reason => {
  const { tag } = error
  const [, reason] = answers.find(([fits]) => fits(error)) ?? []
  return reason ?? (isIn(reasons, tag) ? reasons[tag] : isIn(refusals, tag) ? refusals[tag] : "owner")
}

/**
 * What an error means to a visitor, by the `tag` of an item's `error` or the `_tag` of an error. An unknown one is the
 * site's.
 *
 * @category errors
 */
export const failure = (words: Words, tag: string): string =>
  text(words, words.reasons[reasonOf({ tag, message: "" })], { count: 0 })

/**
 * Why an item failed or its file was not taken, if it has an error: what your server says of it, or else what it means.
 *
 * @category errors
 */
export const failureOf = (
  words: Words,
  { error, size, state }: { readonly error: Failure | undefined } & Pick<Item, "state" | "size">,
  limits: Limits
): string => {
  if (error === undefined) return ""
  if (isIn(refusals, error.tag)) return refusal(words, { reason: error.tag, size }, limits)
  if (error.reason !== undefined) return error.reason
  return state === "needs-file" && error.tag === "SourceChanged"
    ? text(words, words.reasons.otherFile)
    : text(words, words.reasons[reasonOf(error)], { count: 0 })
}

const waits = {
  server: "waitsForServer",
  limit: "waitsForLimit",
  storage: "waitsForStorage",
  network: "waitsForNetwork"
} as const

/** Why nothing moves, and when it goes on. */
const wait = (words: Words, { retryIn = 0, waitingFor }: Item): string | undefined =>
  waitingFor === undefined
    ? undefined
    : joined(
      say(words, waits[waitingFor]),
      say(words, "againIn", { time: unit(words.language, "second", "short", 0).format(retryIn) })
    )

const joined = (...parts: ReadonlyArray<string | undefined>): string =>
  parts.filter((part) => part !== undefined).join(" · ")

/**
 * The state of an item, such as `12 MB of 90 MB · 1.9 MB/s · 1 minute left`.
 *
 * @category states
 */
export const state = (words: Words, item: Item): string => {
  const size = bytes(words, item.size)
  const amount = say(words, "amount", { sent: bytes(words, item.sent), size })
  switch (item.state) {
    case "ready":
      return size
    case "queued":
      return joined(size, say(words, item.sent > 0 ? "queuedAgain" : "queued"))
    case "preparing":
      return joined(size, wait(words, item) ?? say(words, "preparing"))
    case "finishing":
      return joined(size, wait(words, item) ?? say(words, "finishing"))
    case "uploading":
      return joined(
        item.sent === 0 ? size : amount,
        item.waitingFor !== undefined
          ? wait(words, item)
          : item.stalled
          ? say(words, "stalled")
          : item.speed === undefined
          ? item.sent === 0 ? say(words, "starting") : undefined
          : say(words, "speed", { amount: bytes(words, item.speed) }),
        item.secondsLeft === undefined ? undefined : timeLeft(words, item.secondsLeft)
      )
    case "paused":
      return joined(item.sent === 0 ? size : amount, say(words, "paused"))
    case "completed":
      return joined(size, say(words, "uploaded"))
    case "failed":
      return joined(item.sent === 0 ? size : amount, say(words, "failed"))
    case "cancelled":
      return joined(size, say(words, "cancelled"))
    case "needs-file":
      return item.confirmed === 0
        ? joined(size, say(words, "nothingYet"))
        : say(words, "amountUploaded", { sent: bytes(words, item.confirmed), size })
  }
}

const progressWords = (words: Words, item: Item): string | undefined => {
  if (item.state === "needs-file") return say(words, "waitsForFile")
  if (item.state === "ready") return undefined
  if (item.state !== "uploading") return say(words, item.state === "completed" ? "uploaded" : item.state)
  if (item.stalled) return say(words, "stalled")
  return item.secondsLeft === undefined ? undefined : timeLeft(words, item.secondsLeft)
}

/**
 * What a screen reader says for a progress bar, such as `42%, 3 minutes left`.
 *
 * @category states
 */
export const progress = (words: Words, item: Item): string =>
  [percentage(words, item), progressWords(words, item)].filter((part) => part !== undefined).join(", ")

/**
 * All items together, such as `1 of 3 files · 12 MB of 345 MB · 1.9 MB/s`.
 *
 * @category states
 */
export const totals = (words: Words, now: Totals): string => {
  const isMoving = now.state === "uploading"
  return joined(
    say(words, "filesDone", { done: now.completed, count: now.files }),
    now.completed === now.files || now.sent === 0
      ? bytes(words, now.size)
      : say(words, "amount", { sent: bytes(words, now.sent), size: bytes(words, now.size) }),
    isMoving && now.speed !== undefined ? say(words, "speed", { amount: bytes(words, now.speed) }) : undefined,
    isMoving && now.secondsLeft !== undefined ? timeLeft(words, now.secondsLeft) : undefined,
    now.state === "paused" ? say(words, "paused") : undefined,
    now.failed > 0 ? say(words, "failedFiles", { count: now.failed }) : undefined
  )
}

/**
 * What is announced once: at the start, at each quarter, and at the end.
 *
 * @category states
 */
export const announcement = (words: Words, now: Totals): string => {
  const quarter = Math.floor(percent(now) / 25) * 25
  const counts = { done: now.completed, count: now.files, failed: now.failed }
  switch (now.state) {
    case "idle":
    case "ready":
      return ""
    case "paused":
      return say(words, "arePaused")
    case "completed":
      return say(words, "areUploaded", { count: now.completed })
    case "failed":
      return say(words, "haveFailed", counts)
    case "uploading":
      return quarter === 0
        ? say(words, "isUploading", counts)
        : say(words, "isAt", { percent: percentage(words, { sent: quarter, size: 100 }) })
  }
}
