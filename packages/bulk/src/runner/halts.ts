import * as LastingFailure from "@stevedore/node/LastingFailure"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { FileError } from "../BulkError.js"

/** Why this process does not go on with a job for now. */
export interface Halt {
  readonly job: string
  readonly reason: LastingFailure.Reason | "outage"
  readonly error: FileError
}

/** How a file of a job ended; none if there was nothing that could fail for another file too. */
export interface Ended {
  readonly error: Option.Option<FileError>
}

interface File {
  readonly job: { readonly id: number; readonly name: string }
  readonly seq: number
  /** That of the job's files on this machine. */
  readonly directory: string | undefined
}

/** What a job has met in this process. */
interface HaltState {
  halt: (Halt & { readonly until: number; readonly wait: number }) | undefined
  /** Whether a file tries if the halt is over. */
  isTried: boolean
  /** Files in a row that an outage has ended. */
  outages: number
  /** Files that got through. */
  through: number
  /** Of each file that an outage has ended: how often, and how many others had got through by the first time. */
  readonly missed: Map<number, { readonly times: number; readonly through: number }>
}

const shortestWait = Duration.toMillis("5 seconds")
const longestWait = Duration.toMillis("5 minutes")

/** What is delivered meanwhile is given back after this, so that a process without the fault can have it. */
const longestHold = Duration.toMillis("5 seconds")

/** A file that so many outages have ended, about an hour of them, while others got through, fails by its own. */
const mostMissed = 20

/**
 * Jobs that wait, because each of their files would fail as one has: that file has no outcome. From time to time one file
 * tries, and with the first that gets through all go on.
 */
export const make = Effect.sync(() => {
  const standings = new Map<number, HaltState>()
  const standingOf = (job: number): HaltState => {
    const standing = standings.get(job) ??
      { halt: undefined, isTried: false, outages: 0, through: 0, missed: new Map() }
    standings.set(job, standing)
    return standing
  }

  const reasonOf = (standing: HaltState, { directory, seq }: File, error: FileError) =>
    Effect.map(LastingFailure.ofFileIn(error, directory), (lasting): Option.Option<Halt["reason"] | "again"> => {
      if (Option.isSome(lasting)) return lasting
      if (!LastingFailure.isOutage(error)) return Option.none()
      const { through, times } = standing.missed.get(seq) ?? { times: 0, through: standing.through }
      if (times >= mostMissed && standing.through > through) return Option.none()
      standing.missed.set(seq, { times: times + 1, through })
      standing.outages += 1
      return Option.some(standing.outages < LastingFailure.outages ? "again" : "outage")
    })

  /** The end of a file, if it is the file's; none if the file is to be tried again. */
  const heard = <A extends Ended>(standing: HaltState, file: File, isTrial: boolean, end: A) =>
    Effect.gen(function*() {
      if (Option.isNone(end.error)) {
        standing.outages = 0
        standing.through += 1
        standing.missed.delete(file.seq)
        if (isTrial && standing.halt !== undefined) {
          standing.halt = undefined
          yield* Effect.logInfo(`The job ${file.job.name} goes on`)
        }
        return Option.some(end)
      }
      const error = end.error.value
      const reason = yield* reasonOf(standing, file, error)
      if (Option.isNone(reason)) {
        standing.missed.delete(file.seq)
        return Option.some(end)
      }
      if (reason.value !== "again") {
        const { halt } = standing
        const wait = halt === undefined ? shortestWait : isTrial ? Math.min(2 * halt.wait, longestWait) : halt.wait
        const until = (yield* Clock.currentTimeMillis) + wait
        standing.halt = { job: file.job.name, reason: reason.value, error, wait, until }
        if (halt === undefined) {
          yield* Effect.logWarning(`The job ${file.job.name} waits: what a file has met, each would: ${error.message}`)
        }
      }
      return Option.none<A>()
    })

  return {
    /** The jobs that wait. */
    halted: Effect.sync((): ReadonlyArray<Halt> =>
      Array.from(standings.values()).flatMap(({ halt }) =>
        halt === undefined ? [] : [{ job: halt.job, reason: halt.reason, error: halt.error }]
      )
    ),

    /** Whether the job goes on. If not, this takes a while, so that nobody asks at once again. */
    goesOn: (job: number, ended: Effect.Effect<void>): Effect.Effect<boolean> =>
      Effect.gen(function*() {
        const { halt } = standingOf(job)
        if (halt === undefined) return true
        const left = halt.until - (yield* Clock.currentTimeMillis)
        yield* Effect.raceFirst(Effect.sleep(Math.max(0, Math.min(left, longestHold))), ended)
        return left <= longestHold
      }),

    /** Uploads a file if its job does not wait. None if it has no outcome by that. */
    through:
      (file: File) =>
      <A extends Ended, R>(upload: Effect.Effect<A, never, R>): Effect.Effect<Option.Option<A>, never, R> =>
        Effect.gen(function*() {
          const standing = standingOf(file.job.id)
          const { halt } = standing
          const isTrial = halt !== undefined
          if (isTrial && (standing.isTried || (yield* Clock.currentTimeMillis) < halt.until)) return Option.none()
          standing.isTried = isTrial
          const tried = Effect.sync(() => {
            if (isTrial) standing.isTried = false
          })
          return yield* Effect.ensuring(
            Effect.flatMap(upload, (end) => heard(standing, file, isTrial, end)),
            tried
          )
        })
  }
})

export type Halts = Effect.Effect.Success<typeof make>
