/** Shows the progress of one command's uploads: bars on a terminal, lines elsewhere, reports for programs. */
import * as Measure from "@stevedore/core/parts/measure"
import { monotonicMillis } from "@stevedore/core/parts/timers"
import type { UploadEvent } from "@stevedore/core/UploadEvent"
import type { UploadProgress } from "@stevedore/core/UploadProgress"
import type { UploadHandle } from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as UploadBoard from "../files/board.js"
import type { Outcome } from "../files/outcomes.js"
import type { FileToUpload } from "../files/paths.js"
import { drawing, Output } from "../print/output.js"
import * as Printable from "../print/printable.js"
import * as ProgressBar from "../print/progressBar.js"
import * as Reports from "../print/reports.js"
import { type CallsLeft, none } from "./callsLeft.js"

type Shown = Pick<FileToUpload, "path" | "name" | "size">

/** Is notified when each upload starts and ends. */
export interface UploadWatch {
  /** Shows an upload from now on. */
  readonly follow: (file: Shown, progress: Followed["progress"]) => void
  /** Shows it no longer once this effect has ended. */
  readonly during: (file: Shown) => <A, E, R>(upload: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A session of an upload that is shown starts, or continues: what is to be said of that, if anything. */
  readonly opened: (
    file: Shown,
    session: Pick<Extract<UploadEvent, { _tag: "SessionOpened" }>, "session" | "parts">
  ) => Effect.Effect<void> | undefined
  /** A file was uploaded, or failed: it counts as settled from now on. One that was skipped no longer counts at all. */
  readonly settle: (file: Shown, outcome: Outcome<FileToUpload>["_tag"]) => Effect.Effect<void>
}

interface Followed {
  readonly progress: Pick<UploadHandle["progress"], "get">
  /** The bytes that storage had before. */
  there: number
  /** Whether its session is open: that call is made. */
  isOpen: boolean
}

interface Sample {
  readonly at: number
  readonly sent: number
}

// The speed over this many milliseconds: long enough to bridge the gaps between small files
const speedWindow = 15_000

const speedOf = (samples: ReadonlyArray<Sample>): Option.Option<number> => {
  const [first] = samples
  const last = samples.at(-1)
  return first === undefined || last === undefined || last.at - first.at < 1000 || last.sent <= first.sent
    ? Option.none()
    : Option.some(((last.sent - first.sent) / (last.at - first.at)) * 1000)
}

/** Watches the uploads of these files for as long as the scope is open. */
export const make = (
  files: ReadonlyArray<Shown>,
  json: boolean,
  calls: CallsLeft = none
): Effect.Effect<UploadWatch, never, Output | Scope.Scope> =>
  Effect.gen(function*() {
    const output = yield* Output
    const followed = new Map<Shown, Followed>()
    let size = files.reduce((sum, file) => sum + file.size, 0)
    const counts = { Done: 0, Skipped: 0, Failed: 0, NotTried: 0, settled: 0, sent: 0 }
    let samples: ReadonlyArray<Sample> = []

    const active = Effect.suspend(() =>
      Effect.forEach(followed, ([file, { progress, there }]) =>
        Effect.map(progress.get, (state) => ({
          path: file.path,
          name: Option.getOrElse(file.name, () => file.path),
          progress: state,
          sent: Math.max(0, state.sent - there)
        })))
    )

    const timeOfCalls = Effect.suspend(() => {
      const left = files.length - counts.Done - counts.Skipped - counts.Failed
      const made = [...followed.values()].filter(({ isOpen }) => isOpen).length
      return calls.time(calls.perFile * left - made)
    })

    const board = Effect.gen(function*() {
      // Not the wall clock: if it were set back, all samples would be kept until it has caught up
      const at = yield* Effect.map(Effect.clock, monotonicMillis)
      const now = yield* active
      const standing: UploadBoard.Board = {
        active: now,
        files: { total: files.length - counts.Skipped, done: counts.Done, failed: counts.Failed },
        size,
        settled: counts.settled,
        speed: Option.none(),
        calls: yield* timeOfCalls
      }
      const sent = now.reduce((sum, one) => sum + one.sent, counts.sent)
      samples = [...samples.filter((sample) => at - sample.at <= speedWindow), { at, sent }]
      return { ...standing, speed: speedOf(samples) }
    })

    const line = (name: string, progress: UploadProgress) =>
      progress.phase === "uploading"
        ? output.note(`${Printable.line(name)}: ${ProgressBar.plain(progress)}`)
        : Effect.void
    const tell = Effect.flatMap(board, (standing) =>
      standing.files.total > 1
        ? output.note(UploadBoard.plain(standing))
        : Effect.forEach(standing.active, ({ name, progress }) => line(name, progress), { discard: true }))

    const report = Effect.flatMap(active, (all) =>
      Effect.ignore(output.json(all.map(({ path, progress }) => Reports.progress(path, progress)))))

    const every = (effect: Effect.Effect<void>, schedule: Schedule.Schedule<number>) =>
      Effect.forkScoped(Effect.schedule(effect, schedule))
    if (!json && Option.isNone(yield* output.terminal)) {
      yield* every(tell, Schedule.spaced("5 seconds"))
    }
    if (json) {
      yield* every(report, Schedule.spaced("1 second"))
    }
    yield* drawing((terminal) =>
      Effect.map(board, (standing) => UploadBoard.lines(standing, terminal))
    )

    return {
      follow: (file, progress) => void followed.set(file, { progress, there: 0, isOpen: false }),
      during: (file) => (upload) =>
        Effect.ensuring(
          upload,
          Effect.suspend(() => {
            const one = followed.get(file)
            return one === undefined ? Effect.void : Effect.map(one.progress.get, ({ sent }) => {
              counts.sent += Math.max(0, sent - one.there)
              followed.delete(file)
            })
          })
        ),
      opened: (file, { parts, session }) => {
        const one = followed.get(file)
        if (one !== undefined) one.isOpen = true
        return one === undefined || session > 1 || parts.confirmed === 0
          ? undefined
          : Effect.flatMap(one.progress.get, ({ confirmed }) => {
            one.there = confirmed
            return output.note(`Resumed ${Printable.line(file.path)}: ${Measure.bytes(confirmed)} were there`)
          })
      },
      settle: (file, outcome) =>
        Effect.sync(() => {
          counts[outcome] += 1
          if (outcome === "Skipped") size -= file.size
          else counts.settled += file.size
        })
    }
  })
