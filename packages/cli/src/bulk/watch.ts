/** Shows how far jobs are: as lines, as a board on a terminal, and until they have ended. */
import type { SqlError } from "@effect/sql/SqlError"
import * as Jobs from "@stevedore/bulk/Bulk"
import type { JobNotFound } from "@stevedore/bulk/BulkError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Outcomes from "../files/outcomes.js"
import { Output } from "../print/output.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import * as BulkBoard from "./board.js"
import { causeOf, type Failure } from "./database.js"
import { JobFailed } from "./model.js"

const columns: ReadonlyArray<Table.Column> = [
  { header: "JOB", width: undefined },
  { header: "STATE", width: 9 },
  { header: "UPLOADED", width: 9 },
  { header: "FAILED", width: 7 },
  { header: "FILES", width: 9 },
  { header: "BYTES", width: 9, spare: true },
  { header: "LEFT", width: 9, spare: true }
]

/** A line for each job. */
export const print = (jobs: ReadonlyArray<BulkBoard.Shown>, json: boolean) =>
  Effect.flatMap(Output, (output) =>
    json
      ? output.json(jobs.map(({ name, standing }) => Reports.job(name, standing)))
      : Table.print(columns, jobs.map(BulkBoard.row)))

/** Shows what is true now: on a terminal as a board, for programs as lines, and elsewhere as a line now and then. */
const shower = (json: boolean, every: Duration.DurationInput) =>
  Effect.gen(function*() {
    const output = yield* Output
    const isTerminal = Option.isSome(yield* output.terminal)
    let toldAt = -Infinity
    yield* Effect.addFinalizer(() => output.status([]))
    return (jobs: ReadonlyArray<BulkBoard.Shown>) =>
      Effect.gen(function*() {
        if (json) return yield* print(jobs, true)
        const terminal = yield* output.terminal
        if (Option.isSome(terminal)) return yield* output.status(BulkBoard.lines(jobs, terminal.value))
        const now = yield* Clock.currentTimeMillis
        if (isTerminal || now - toldAt < Duration.toMillis(every)) return
        toldAt = now
        yield* Effect.forEach(jobs, (job) => output.note(BulkBoard.plain(job)), { discard: true })
      })
  })

/** A database that is away for a while ends no runner, and so nobody who watches one either. */
const patient = <A, E extends Failure>(told: (problem: string) => Effect.Effect<void>, stream: Stream.Stream<A, E>) => {
  let isAway = false
  return stream.pipe(
    Stream.tap(() => Effect.sync(() => isAway = false)),
    Stream.tapError((error) => {
      if (error._tag !== "SqlError" || isAway) return Effect.void
      isAway = true
      return told(`The database does not answer (${causeOf(error)}): trying again`)
    }),
    Stream.retry(Schedule.whileInput(Schedule.spaced("1 second"), ({ _tag }: E) => _tag === "SqlError"))
  )
}

/** Shows a job until it has ended, and gives how. */
export const watched = (job: Jobs.Job, json: boolean) =>
  Effect.gen(function*() {
    const { warn } = yield* Output
    const show = yield* shower(json, "10 seconds")
    const last = yield* patient(warn, job.progress).pipe(
      Stream.tap((standing) => show([{ name: job.name, standing }])),
      Stream.runLast
    )
    return yield* Option.match(last, { onNone: () => job.status, onSome: Effect.succeed })
  }).pipe(Effect.scoped)

/** A job and how far it is. */
export const shown = (job: Jobs.Job): Effect.Effect<BulkBoard.Shown, SqlError | JobNotFound> =>
  Effect.map(job.status, (standing) => ({ name: job.name, standing }))

/** Every job. */
export const all = Effect.flatMap(
  Jobs.names,
  (names) => Effect.forEach(names, (name) => Effect.flatMap(Jobs.get(name), shown))
)

const isUnderWay = ({ standing: { chunks, state } }: BulkBoard.Shown): boolean => state === "running" || chunks > 0

/** Shows the jobs that are under way, for as long as there are such. */
export const watchedAll = (json: boolean, goesOn: (jobs: ReadonlyArray<BulkBoard.Shown>) => boolean) =>
  Effect.gen(function*() {
    const { warn } = yield* Output
    const bulk = yield* Jobs.Bulk
    const show = yield* shower(json, "1 minute")
    const jobs = Effect.provideService(all, Jobs.Bulk, bulk).pipe(
      // forgotten in between
      Effect.catchTag("JobNotFound", () => Effect.succeed([]))
    )
    yield* patient(warn, Stream.repeatEffectWithSchedule(jobs, Schedule.spaced("1 second"))).pipe(
      Stream.map((jobs) => jobs.filter(isUnderWay)),
      Stream.takeWhile(goesOn),
      Stream.runForEach(show)
    )
  }).pipe(Effect.scoped)

/** The last line of a job that has ended, and its failure. */
export const end = (job: Jobs.Job, standing: Reports.JobStatus, json: boolean) =>
  Effect.gen(function*() {
    // the last line of the progress was that of the end
    if (!json) yield* print([{ name: job.name, standing }], false)
    const { failed, total, uploaded } = standing
    if (uploaded === total) return
    // one of each kind that there is
    const errors = yield* Stream.runFold(
      job.failures,
      new Map<string, Reports.KnownError>(),
      (errors, { error }) => errors.set(`${error._tag} ${"reason" in error ? error.reason : ""}`, error)
    )
    const { exitCode, kind } = Outcomes.failureOf([...errors.values()], { files: total, notTried: 0 })
    return yield* new JobFailed({ kind, exitCode, job: job.name, failed, cancelled: total - uploaded - failed })
  })
