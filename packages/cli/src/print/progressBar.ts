/** The progress of an upload, as a bar for a terminal of any width, or as a plain line. */
import * as Measure from "@stevedore/core/parts/measure"
import type { UploadProgress } from "@stevedore/core/UploadProgress"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const widestBar = 40
const narrowestBar = 8

const bar = (done: number, width: number): string => {
  const filled = Math.floor((done / 100) * width)
  return `[${"#".repeat(filled)}${"-".repeat(width - filled)}]`
}

const fitting = (texts: ReadonlyArray<string>, columns: number): string =>
  texts.find((text) => text.length <= columns) ?? (texts.at(-1) ?? "").trim().slice(0, Math.max(0, columns))

/**
 * A bar and its percentage, with the first choice of words that leaves room for the bar; if none does, the first that
 * fits without it. Never wider than `columns`, if the words are ASCII.
 */
export const drawn = (done: number, choices: ReadonlyArray<ReadonlyArray<string>>, columns: number): string => {
  const texts = choices.map((words) => [`${String(done).padStart(3)}%`, ...words].join("  "))
  for (const text of texts) {
    const room = Math.min(widestBar, columns - text.length - 3)
    if (room >= narrowestBar) return `${bar(done, room)} ${text}`
  }
  return fitting(texts, columns)
}

// Confirmed bytes arrive part by part, and for a single PUT only at its end, while sent bytes move evenly. It is not
// done before the service says so.
const percentOf = (progress: UploadProgress): number =>
  progress.phase === "completed" ? 100 : Math.min(99, Measure.percent(progress.sent, progress.size))

const timeLeft = (progress: UploadProgress): Option.Option<string> =>
  progress.phase === "uploading" && Option.isSome(progress.stalledSince)
    ? Option.some("stalled")
    : progress.phase === "uploading"
    ? Option.map(progress.timeLeft, (left) => `${Measure.duration(Duration.max(left, Duration.seconds(1)))} left`)
    : Option.some(progress.phase)

/**
 * The bar, in ASCII and never wider than `columns`. What does not fit is left out, the least important first: the
 * speed, the bytes, the time left, the bar itself.
 */
export const render = (progress: UploadProgress, columns: number): string => {
  const left = Option.toArray(timeLeft(progress))
  const amount = `${Measure.bytes(progress.sent)} of ${Measure.bytes(progress.size)}`
  const speed = Option.toArray(Option.map(progress.speed, Measure.speed))
  return drawn(percentOf(progress), [[amount, ...speed, ...left], [amount, ...left], left, []], columns)
}

/** The bar of a download: the bytes received, and the total if it is known. Never wider than `columns`. */
export const renderBytes = (
  { received, size }: { readonly received: number; readonly size: Option.Option<number> },
  columns: number
): string => {
  const amount = Measure.bytes(received)
  return Option.match(size, {
    onNone: () => fitting([amount], columns),
    onSome: (of) => {
      const done = Measure.percent(received, of)
      return drawn(done, [[`${amount} of ${Measure.bytes(of)}`], []], columns)
    }
  })
}

/** The progress as a log line: `45%, 450.0 MB of 1.0 GB, 12.5 MB/s, 44s left`. */
export const plain = (progress: UploadProgress): string =>
  [
    `${percentOf(progress)}%`,
    `${Measure.bytes(progress.sent)} of ${Measure.bytes(progress.size)}`,
    ...Option.toArray(Option.map(progress.speed, Measure.speed)),
    ...Option.toArray(timeLeft(progress))
  ].join(", ")
