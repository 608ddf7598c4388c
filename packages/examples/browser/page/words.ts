// Everything that users read: sizes, times, states and errors in words.
import type { UploadQueue } from "@stevedore/browser"

type Item = UploadQueue.Item

const units = ["kB", "MB", "GB", "TB"]

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

export const bytes = (count: number): string => {
  if (count < 1000) return plural(count, "byte")
  let value = count / 1000
  let unit = 0
  // a value that rounds to a thousand of one unit is one of the next
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${units[unit]}`
}

// they would hide or reorder the rest of a name: one can make notes_fdp.exe look like notes_exe.pdf
const deceiving = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** A name as it is shown. A very long one loses its middle: files of a folder differ at the ends of their names. */
export const name = (whole: string): string => {
  const characters = Array.from(whole.trim() === "" ? "(no name)" : whole.replace(deceiving, "\ufffd"))
  return characters.length <= 100
    ? characters.join("")
    : [...characters.slice(0, 59), "…", ...characters.slice(-40)].join("")
}

export const timeLeft = (seconds: number): string => {
  if (seconds < 5) return "seconds left"
  if (seconds < 60) return `${plural(Math.ceil(seconds / 5) * 5, "second")} left`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${plural(minutes, "minute")} left`
  // in full, it would need another line on a narrow screen, and the row would become higher
  return `${Math.floor(minutes / 60)} h ${minutes % 60 === 0 ? "" : `${minutes % 60} min `}left`
}

export const percent = ({ sent, size }: Pick<Item, "sent" | "size">): number =>
  size === 0 ? 0 : Math.floor((100 * sent) / size)

const reasons: Readonly<Record<string, string>> = {
  // while the browser is offline, nothing fails
  ConnectionFailed: "The connection failed. Check your network and any ad blocker, then try again.",
  TimedOut: "The connection is too slow or was lost. Try again.",
  SourceChanged: "The file has changed. Choose it again to upload the current version.",
  SourceUnreadable: "The file cannot be read. It may have been moved or deleted. Choose it again.",
  UploadLocked: "This file is already being uploaded in another tab.",
  Unauthorized: "You are signed out. Sign in, then try again.",
  Forbidden: "You are not allowed to upload files here.",
  SizeExceeded: "The file is too large.",
  DeadlineUnreachable: "The connection is too slow for a file of this size.",
  ServiceUnavailable: "The service is not available at the moment. Try again later.",
  StorageUnavailable: "The storage is not available at the moment. Try again later.",
  StorageForbidden: "The storage refused the file. Try again, or contact the owner of this page.",
  RateLimited: "There are too many uploads at the moment. Try again in a minute.",
  InvalidResponse: "The service did not respond as expected. You may be signed out: sign in, then try again.",
  CompletionUnknown: "All of the file was sent, but the service did not confirm it. Try again to find out.",
  UrlExpired: "The connection was too slow to upload the file in time. Try again with a faster one.",
  UploadConflict: "The service has stopped this upload. Try again to upload the file from the start.",
  ChecksumMismatch: "The file was damaged on its way. Try again from another network.",
  StoredSizeDiffers: "The file was not stored correctly. Try again, or contact the owner of this page.",
  UnfinishedUploadNotFound: "It was finished or discarded in another tab. Retry to upload it again."
}

/** Whether a retry of a failed item needs its file again. */
export const needsFile = ({ error }: Pick<Item, "error">): boolean =>
  error?.tag === "SourceChanged" || error?.tag === "SourceUnreadable"

export const failure = ({ error, state }: Pick<Item, "error" | "state">): string => {
  if (error === undefined) return ""
  if (state !== "needs-file") return reasons[error.tag] ?? error.message
  return error.tag === "SourceChanged"
    ? "This is not the same file, or it has changed. Choose the original file."
    : "The file could not be opened. Choose it again."
}

/** The same words, whose lines break only between what the dots separate, and within what has no number. */
export const unbroken = (words: string): string =>
  words.split(" · ").map((part) => /\d/.test(part) ? part.replaceAll(" ", "\u00a0") : part).join("\u00a0· ")

const joined = (...parts: ReadonlyArray<string | undefined>): string =>
  parts.filter((part) => part !== undefined).join(" · ")

/** Whether only the answer is awaited: the service's, or the storage's to the last bytes. */
export const isFinishing = ({ secondsLeft, state }: Item): boolean =>
  state === "finishing" || (state === "uploading" && secondsLeft === 0)

const waiting = "waiting for the connection"

const moving = (item: Item): string =>
  isFinishing(item)
    ? joined(bytes(item.size), "finishing")
    : joined(
      `${bytes(item.sent)} of ${bytes(item.size)}`,
      item.stalled ? waiting : item.speed === undefined ? undefined : `${bytes(item.speed)}/s`,
      item.secondsLeft === undefined ? undefined : timeLeft(item.secondsLeft)
    )

/** The line below a file's name. */
export const state = (item: Item): string => {
  switch (item.state) {
    case "queued":
      return joined(bytes(item.size), item.sent > 0 ? "waiting to resume" : "waiting")
    case "preparing":
      return joined(bytes(item.size), "preparing")
    case "uploading":
    case "finishing":
      return moving(item)
    case "paused":
      return joined(`${bytes(item.sent)} of ${bytes(item.size)}`, "paused")
    case "completed":
      return joined(bytes(item.size), "uploaded")
    case "failed":
      return joined(item.sent === 0 ? bytes(item.size) : `${bytes(item.sent)} of ${bytes(item.size)}`, "failed")
    case "cancelled":
      return joined(bytes(item.size), "cancelled")
    case "needs-file":
      return item.confirmed === 0
        ? joined(bytes(item.size), "nothing uploaded yet")
        : `${bytes(item.confirmed)} of ${bytes(item.size)} uploaded`
  }
}

const progressWords = (item: Item): string | undefined => {
  if (isFinishing(item)) return "finishing"
  if (item.state === "needs-file") return "waiting for its file"
  if (item.state !== "uploading") return item.state
  if (item.stalled) return waiting
  return item.secondsLeft === undefined ? undefined : timeLeft(item.secondsLeft)
}

/** What a screen reader says for a progress bar, such as "42 %, 3 minutes left". */
export const progress = (item: Item): string =>
  [`${percent(item)} %`, progressWords(item)].filter((part) => part !== undefined).join(", ")

export const totals = (now: UploadQueue.Totals): string =>
  joined(
    `${now.completed} of ${plural(now.files, "file")}`,
    now.completed === now.files ? bytes(now.size) : `${bytes(now.sent)} of ${bytes(now.size)}`,
    now.state === "uploading" && now.speed !== undefined ? `${bytes(now.speed)}/s` : undefined,
    now.state === "uploading" && now.secondsLeft !== undefined ? timeLeft(now.secondsLeft) : undefined,
    now.state === "paused" ? "paused" : undefined,
    now.failed > 0 ? `${now.failed} failed` : undefined
  )

const titles = { idle: "", paused: "Paused", completed: "Uploaded", failed: "Failed" }

/** The title of the tab, for users who have gone to another one. */
export const title = (now: UploadQueue.Totals): string => {
  const news = now.state === "uploading" ? `${percent(now)} %` : titles[now.state]
  return news === "" ? "Stevedore" : `${news} – Stevedore`
}

export const offline = "You are offline. Uploads will resume automatically."

/** What is announced once: at the start, at each quarter, and at the end. */
export const announcement = (now: UploadQueue.Totals, quarter: number): string => {
  switch (now.state) {
    case "idle":
      return ""
    case "paused":
      return "All uploads are paused."
    case "completed":
      return `${plural(now.completed, "file")} uploaded.`
    case "failed":
      return `${now.completed} of ${plural(now.files, "file")} uploaded, ${now.failed} failed.`
    case "uploading":
      return quarter === 0 ? `Uploading ${plural(now.files, "file")}.` : `${quarter * 25} percent uploaded.`
  }
}
