/** The progress of all uploads of one command: a line for each file being uploaded, and a total. */
import * as Measure from "@stevedore/core/parts/measure"
import type { UploadProgress } from "@stevedore/core/UploadProgress"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Forecast from "../print/forecast.js"
import { margin, type TerminalSize } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as ProgressBar from "../print/progressBar.js"

/** One file being uploaded. */
export interface Active {
  readonly name: string
  readonly progress: UploadProgress
}

/** All of them together. */
export interface Board {
  readonly active: ReadonlyArray<Active>
  readonly files: { readonly total: number; readonly done: number; readonly failed: number }
  /** The sizes of all files, in bytes. */
  readonly size: number
  /** The bytes of files that are done, including those that failed, because nothing of them is left to do. */
  readonly settled: number
  /** Bytes per second of all uploads together; none until known. */
  readonly speed: Option.Option<number>
  /** How long the calls take that are left; none if the service does not limit them, as far as is known. */
  readonly calls?: Option.Option<Duration.Duration> | undefined
}

/** How many of all bytes were sent, or need not be sent any more. */
export const sent = ({ active, settled }: Board): number =>
  active.reduce((sum, { progress }) => sum + progress.sent, settled)

const percentOf = (board: Board): number =>
  board.files.done + board.files.failed === board.files.total
    ? 100
    : Math.min(99, Measure.percent(sent(board), board.size))

const timeLeft = (board: Board): Option.Option<string> => {
  const bytes = Option.filter(board.speed, (speed) => speed > 0).pipe(
    Option.map((speed) => Duration.seconds((board.size - sent(board)) / speed))
  )
  const { calls = Option.none() } = board
  return Option.map(Forecast.left(bytes, calls), ({ by, time }) => {
    const words = `${Measure.duration(Duration.max(time, Duration.seconds(1)))} left`
    // what would have to be faster, where both are known to be limited
    return Option.isSome(calls) ? `${words} (${by})` : words
  })
}

const words = (board: Board) => {
  const { done, failed, total } = board.files
  return {
    files: [`${done} of ${total} files`, ...(failed === 0 ? [] : [`${failed} failed`])],
    amount: `${Measure.bytes(sent(board))} of ${Measure.bytes(board.size)}`,
    speed: Option.toArray(Option.map(board.speed, Measure.speed)),
    left: Option.toArray(timeLeft(board))
  }
}

/** The total as a bar, never wider than `columns`: `[####----]  45%  3 of 12 files  1.2 GB of 2.6 GB`. */
export const total = (board: Board, columns: number): string => {
  const { amount, files, left, speed } = words(board)
  return ProgressBar.drawn(
    percentOf(board),
    [[...files, amount, ...speed, ...left], [...files, amount, ...left], [...files, ...left], files, []],
    columns
  )
}

/** The total as a log line: `45%, 3 of 12 files, 1.2 GB of 2.6 GB, 12.5 MB/s, 1m 52s left`. */
export const plain = (board: Board): string => {
  const { amount, files, left, speed } = words(board)
  return [`${percentOf(board)}%`, ...files, amount, ...speed, ...left].join(", ")
}

/** A name with what is drawn beside it; without the name where there is no room for both. */
export const named = (name: string, columns: number, draw: (columns: number) => string): string => {
  const nameWidth = Math.min(32, Math.floor(columns * 0.4))
  const room = columns - nameWidth - 2
  return room < 4 ? draw(columns) : `${Printable.fitted(name, nameWidth)}  ${draw(room)}`
}

/** As many lines as fit below each other, at most twelve, with a count of the others. */
export const asManyAsFit = (
  lines: ReadonlyArray<string>,
  terminal: TerminalSize,
  columns: number
): ReadonlyArray<string> => {
  const room = Math.max(0, Math.min(12, terminal.rows - 4))
  if (lines.length <= room) return lines
  const shown = lines.slice(0, Math.max(0, room - 1))
  return room === 0 ? shown : [...shown, `and ${lines.length - shown.length} more`.slice(0, columns)]
}

/**
 * The lines for a terminal. For a command with one file, a single line. Otherwise one line per file, as many as fit,
 * with a count of the others, and the total below. The last columns and rows stay free.
 */
export const lines = (board: Board, terminal: TerminalSize): ReadonlyArray<string> => {
  const columns = Math.max(1, terminal.columns - margin)
  const [first] = board.active
  if (board.files.total === 1) return first === undefined ? [] : [ProgressBar.render(first.progress, columns)]
  const bars = board.active.map(({ name, progress }) =>
    named(name, columns, (room) => ProgressBar.render(progress, room))
  )
  return [...asManyAsFit(bars, terminal, columns), total(board, columns)]
}
