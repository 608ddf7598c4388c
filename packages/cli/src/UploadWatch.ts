/**
 * Shows the progress of one command's uploads: bars on a terminal, lines elsewhere, reports for programs.
 *
 * @since 0.1.0
 */
import { monotonicMillis } from "@stevedore/core/ServerClock"
import type { UploadProgress } from "@stevedore/core/UploadProgress"
import type { UploadHandle } from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { Output } from "./Output.js"
import * as Printable from "./Printable.js"
import * as ProgressBar from "./ProgressBar.js"
import * as Reports from "./Reports.js"
import * as UploadBoard from "./UploadBoard.js"
import type { FileToUpload } from "./UploadPaths.js"

/**
 * Is notified when each upload starts and ends.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadWatch {
  /** Shows an upload while this effect runs. */
  readonly during: (
    file: FileToUpload,
    progress: UploadHandle["progress"]
  ) => <A, E, R>(upload: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** A file was uploaded, or failed: it counts as settled from now on. */
  readonly settle: (file: FileToUpload, outcome: "done" | "failed") => Effect.Effect<void>
  /** How many files were uploaded. */
  readonly done: Effect.Effect<number>
}

interface Followed {
  readonly file: FileToUpload
  readonly progress: UploadHandle["progress"]
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

/**
 * Watches the uploads of these files for as long as the scope is open.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  files: ReadonlyArray<FileToUpload>,
  json: boolean
): Effect.Effect<UploadWatch, never, Output | Scope.Scope> =>
  Effect.gen(function*() {
    const output = yield* Output
    const followed = new Set<Followed>()
    const size = files.reduce((sum, file) => sum + file.size, 0)
    const counts = { done: 0, failed: 0, settled: 0 }
    let samples: ReadonlyArray<Sample> = []

    const active = Effect.suspend(() =>
      Effect.forEach(followed, ({ file, progress }) =>
        Effect.map(progress.get, (state) => ({
          path: file.path,
          name: Option.getOrElse(file.name, () => file.path),
          progress: state
        })))
    )

    const board = Effect.gen(function*() {
      // Not the wall clock: if it were set back, all samples would be kept until it has caught up
      const at = yield* Effect.map(Effect.clock, monotonicMillis)
      const standing: UploadBoard.Board = {
        active: yield* active,
        files: { total: files.length, done: counts.done, failed: counts.failed },
        size,
        settled: counts.settled,
        speed: Option.none()
      }
      const sent = UploadBoard.sent(standing)
      samples = [...samples.filter((sample) => at - sample.at <= speedWindow), { at, sent }]
      return { ...standing, speed: speedOf(samples) }
    })

    const draw = Effect.flatMap(output.terminal, (terminal) =>
      Option.match(terminal, {
        onNone: () => Effect.void,
        onSome: (dimensions) =>
          Effect.flatMap(board, (standing) => output.status(UploadBoard.lines(standing, dimensions)))
      }))

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

    const isTerminal = Option.isSome(yield* output.terminal)
    const every = (effect: Effect.Effect<void>, schedule: Schedule.Schedule<number>) =>
      Effect.forkScoped(Effect.schedule(effect, schedule))
    if (isTerminal) {
      yield* every(draw, Schedule.spaced("100 millis"))
    } else if (!json) {
      yield* every(tell, Schedule.spaced("5 seconds"))
    }
    if (json) {
      yield* every(report, Schedule.spaced("1 second"))
    }
    yield* Effect.addFinalizer(() =>
      output.status([])
    )

    return {
      during: (file, progress) => (upload) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const one = { file, progress }
            followed.add(one)
            return one
          }),
          () => upload,
          (one) => Effect.sync(() => followed.delete(one))
        ),
      settle: (file, outcome) =>
        Effect.sync(() => {
          counts[outcome] += 1
          counts.settled += file.size
        }),
      done: Effect.sync(() => counts.done)
    }
  })
