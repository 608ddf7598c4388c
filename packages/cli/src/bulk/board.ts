import * as Measure from "@stevedore/core/parts/measure"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { margin, type TerminalSize } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as ProgressBar from "../print/progressBar.js"
import type { JobStatus } from "../print/reports.js"

/** A job and how far it is. */
export interface Shown {
  readonly name: string
  readonly standing: JobStatus
}

const count = new Intl.NumberFormat("en")

const percentOf = ({ failed, total, uploaded }: JobStatus): number => Measure.percent(uploaded + failed, total)

const words = (standing: JobStatus) => {
  const { bytes, calls, failed, state, timeLeft, total, uploaded } = standing
  const pace = Option.map(calls.perMinute, (calls) => ` at ${count.format(calls)} a minute`)
  return {
    state: state === "running" ? [] : [state],
    files: [
      `${count.format(uploaded)} of ${count.format(total)} files`,
      ...(failed === 0 ? [] : [`${count.format(failed)} failed`])
    ],
    amount: bytes.total === 0 ? [] : [`${Measure.bytes(bytes.uploaded)} of ${Measure.bytes(bytes.total)}`],
    calls: calls.left === 0 ? [] : [`${count.format(calls.left)} calls left${Option.getOrElse(pace, () => "")}`],
    left: state !== "running" || calls.left === 0
      ? []
      : Option.toArray(
        Option.map(timeLeft, (time) => `${Measure.duration(Duration.max(time, Duration.seconds(1)))} left`)
      )
  }
}

/** A line for a log: `archive-2026: 45%, 1,350 of 3,000 files, 3,300 calls left at 200 a minute, 16m 30s left`. */
export const plain = ({ name, standing }: Shown): string => {
  const { amount, calls, files, left, state } = words(standing)
  return `${Printable.line(name)}: ${
    [...state, `${percentOf(standing)}%`, ...files, ...amount, ...calls, ...left].join(", ")
  }`
}

/** The lines for a terminal: two a job, as many as fit. */
export const lines = (jobs: ReadonlyArray<Shown>, terminal: TerminalSize): ReadonlyArray<string> => {
  const columns = Math.max(1, terminal.columns - margin)
  const room = Math.max(1, Math.floor((terminal.rows - 2) / 2))
  return jobs.slice(0, room).flatMap(({ name, standing }) => {
    const { amount, calls, files, left, state } = words(standing)
    const bar = ProgressBar.drawn(
      percentOf(standing),
      [[...state, ...files, ...amount, ...left], [...state, ...files, ...left], files, []],
      columns
    )
    const rest = [Printable.line(name), `${standing.chunks} chunks at work`, ...calls].join(", ")
    return [Printable.fitted(rest, columns).trimEnd(), bar]
  })
}

/** A job as columns: name, state, uploaded, failed and all files, bytes, and the time left. */
export const row = ({ name, standing }: Shown): ReadonlyArray<string> => {
  const { bytes, failed, state, total, uploaded } = standing
  const left = Option.filter(standing.timeLeft, () => state === "running")
  return [
    name,
    state,
    `${uploaded}`,
    `${failed}`,
    `${total}`,
    Measure.bytes(bytes.uploaded),
    Option.match(left, { onNone: () => "-", onSome: Measure.duration })
  ]
}
