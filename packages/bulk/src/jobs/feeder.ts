/** Puts the chunks of a job into the queue, in the order of their job. */
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Service as Sources } from "../BulkSources.js"
import type { FedRow, JobRows, RunningRow } from "./jobRows.js"

/** Each running job costs a statement several times a second. Of more jobs than these, the oldest have their turns. */
const mostJobs = 16

/** Tells what goes wrong, and tries again. */
export const steady = <E, R>(what: string, effect: Effect.Effect<void, E, R>): Effect.Effect<void, never, R> =>
  Effect.catchAllCause(effect, (cause) => Effect.logWarning(`The queue of chunks cannot ${what}: trying again`, cause))

/**
 * Keeps a window of chunks of each running job with whoever delivers them. Any number of processes may do so at once:
 * `offer` is repeatable.
 */
export const feeding = <E, R, E2, R2>(options: {
  readonly rows: JobRows
  readonly sources: Sources
  /** How many chunks of each job are delivered at once, at most. */
  readonly window: number | undefined
  /** How long no runner may have shown a chunk before it is offered again, in case that it was lost. */
  readonly silence: Duration.Duration
  /** The jobs that run here, told before their chunks are offered. */
  readonly serve: (jobs: ReadonlyArray<RunningRow>) => Effect.Effect<void, E, R>
  readonly offer: (job: RunningRow, chunk: FedRow) => Effect.Effect<void, E2, R2>
}): Effect.Effect<void, never, R | R2> => {
  const { offer, rows, serve, silence, sources, window = 16 } = options
  const round: Effect.Effect<void, SqlError | E | E2, R | R2> = Effect.gen(function*() {
    const queues = yield* sources.queues
    yield* rows.finish(queues)
    const jobs = yield* rows.running(queues, mostJobs)
    yield* serve(jobs)
    for (const job of jobs) {
      yield* rows.feedAgain(job.id, Duration.toMillis(silence))
      if (job.fed >= window) continue
      yield* Effect.forEach(
        yield* rows.toFeed(job.id, window - job.fed),
        (chunk) => Effect.zipRight(offer(job, chunk), rows.fed(job.id, chunk)),
        { discard: true }
      )
    }
  })
  return Effect.asVoid(Effect.repeat(steady("feed chunks", round), Schedule.spaced("300 millis")))
}

/** What no other delivery of any chunk ever has, also where a later job has the number of one that was forgotten. */
export const deliveryOf = ({ id, since }: RunningRow, { n, pass }: FedRow): string =>
  `${id}/${n}/${pass}/${Math.floor(since).toString(36)}`
