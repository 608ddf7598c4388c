import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import { BandwidthLimit } from "../BandwidthLimit.js"
import { monotonicMillis } from "../base/clock.js"
import * as Feasibility from "../errors/feasibility.js"
import type { UploadError } from "../UploadError.js"
import type { UploadEvent } from "../UploadEvent.js"
import type { UploadPhase, UploadProgress } from "../UploadProgress.js"
import type { EventLog } from "./eventLog.js"
import * as LineSpeed from "./lineSpeed.js"

/** The counts of one attempt to send a part. */
export interface AttemptMonitor {
  /** Some bytes were handed to the network. */
  readonly sent: (bytes: number) => void
  /** A wait for the bandwidth limit begins or is over: this is no stall. */
  readonly waits: (waits: boolean) => void
  /** The attempt failed: what it had sent does not count. */
  readonly lost: () => void
  /** Storage has confirmed the part. */
  readonly confirmed: () => void
}

/** The counts of an upload, without what is made of them for those who watch it. */
export interface UploadCounts {
  readonly progress: { readonly get: Effect.Effect<UploadProgress> }
  readonly publish: (event: UploadEvent) => Effect.Effect<void>
  /** The upload died of a defect: no event of the union says so, so the events end with it. */
  readonly die: (cause: Cause.Cause<never>) => void
  /** A phase starts. If it has an event of its own, that is published. */
  readonly enter: (phase: UploadPhase) => Effect.Effect<void>
  /** The upload is paused, or continues. */
  readonly pause: (paused: boolean) => void
  /** A session starts, with the lengths of its parts that storage already has. */
  readonly beginSession: (parts: number, confirmed: ReadonlyArray<number>) => Effect.Effect<void>
  /** A session ended before the upload was done, because of the failure with this `_tag`. */
  readonly endSession: (because: UploadError["_tag"]) => Effect.Effect<void>
  /** A part of this length that storage had is in doubt and will be sent again. */
  readonly reopenPart: (length: number) => Effect.Effect<void>
  /** An attempt to send a part of this length starts. */
  readonly beginAttempt: (length: number) => AttemptMonitor
  /** Judges whether the rest can be sent before the URLs expire, or the whole file in a new session. */
  readonly assess: (
    time: Pick<Feasibility.Measured, "secondsLeft" | "sessionSeconds">
  ) => Effect.Effect<Feasibility.Feasibility>
  /** The speed of the connection, in bytes per second; none until it was watched for ten seconds. */
  readonly speed: () => Option.Option<Feasibility.Speed>
  /** The bytes per second that the bandwidth limit allows, now or later; undefined if there is none. */
  readonly mostAllowed: () => number | undefined
}

type Listener = Pick<EventLog<UploadEvent>, "add" | "die">

const stalledAfterMillis = 10_000

// If attempts waited for the bandwidth limit for this share of the time, it is what limits the speed, and not the
// connection.
const limitedShare = 0.1

const phaseEvents: { readonly [Phase in UploadPhase]?: UploadEvent } = {
  completing: { _tag: "Completing" }
}

const secondsOf = (remaining: number, speed: number): Duration.Duration =>
  speed > 0 ? Duration.seconds(remaining / speed) : Duration.infinity

const unmeasured: Feasibility.Speed = { likely: 0, least: 0, most: 0 }

/** For an upload that nobody watches. */
export const silent: Listener = { add: constVoid, die: constVoid }

/** The counts of an upload of this size. Each event is told once. */
export const make = (size: number, { add, die }: Listener): Effect.Effect<UploadCounts> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const bandwidth = yield* BandwidthLimit
    const publish = (event: UploadEvent) => Effect.sync(() => add(event))
    const line = LineSpeed.make()
    const monotonic = () => monotonicMillis(clock)

    let phase: UploadPhase = "preparing"
    let paused = false
    let sessions = 0
    let parts = { total: 0, confirmed: 0 }
    let inFlight = 0
    let stored = 0
    let storedBefore = 0
    let mostStored = 0
    let feasibility: Feasibility.Feasibility = Feasibility.unknown
    let movedAt = monotonic()
    let limit = yield* bandwidth.current
    let attempts = 0
    let waiting = 0
    let waited = 0

    const speedOf = (at: number): Option.Option<Feasibility.Speed> =>
      Option.map(line.speed(at), ({ least, likely, most }) => ({
        likely: Math.min(likely, limit.rate),
        least: Math.min(least, limit.rate),
        most: waited > line.busy(at) * limitedShare ? limit.most : most
      }))

    // What was measured under another limit says nothing about this one
    const lookAtLimit = Effect.map(bandwidth.current, (now) => {
      if (now.rate !== limit.rate) {
        line.measureAnew(monotonic())
        waited = 0
      }
      limit = now
    })

    const moved = (bytes: number) => {
      movedAt = monotonic()
      line.moved(bytes, movedAt)
    }

    const allStored = () => {
      inFlight = 0
      stored = size
      mostStored = size
      parts = { total: parts.total, confirmed: parts.total }
    }

    // An upload without an attempt may wait for its turn behind others, which a limit makes slow
    const waitsForLimit = () => waiting > 0 || (attempts === 0 && Number.isFinite(limit.rate))

    const stalledSince = (at: number): Option.Option<Date> =>
      phase === "uploading" && !paused && !waitsForLimit() && at - movedAt >= stalledAfterMillis
        ? Option.some(new Date(clock.unsafeCurrentTimeMillis() - (at - movedAt)))
        : Option.none()

    const get = Effect.sync((): UploadProgress => {
      const at = monotonic()
      const sent = Math.min(size, stored + inFlight)
      const remaining = size - sent
      const speed = Option.filter(speedOf(at), ({ likely }) => likely > 0)
      return {
        phase: paused && (phase === "preparing" || phase === "uploading") ? "paused" : phase,
        size,
        sent,
        confirmed: mostStored,
        parts,
        sessions,
        speed: Option.map(speed, ({ likely }) => likely),
        timeLeft: Option.map(speed, ({ likely }) => secondsOf(remaining, likely)),
        timeLeftBetween: Option.map(
          speed,
          ({ least, most }) => ({ least: secondsOf(remaining, most), most: secondsOf(remaining, least) })
        ),
        stalledSince: stalledSince(at),
        feasibility
      }
    })

    return {
      progress: { get },
      publish,
      die,
      enter: (entered) =>
        Effect.sync(() => {
          phase = entered
          movedAt = monotonic()
          const event = phaseEvents[entered]
          if (event !== undefined) add(event)
          // An earlier process may have been killed before it could record the last receipts
          if (entered === "completed") allStored()
        }),
      pause: (now) => {
        paused = now
        movedAt = monotonic()
        add({ _tag: now ? "Paused" : "Resumed" })
      },
      beginSession: (total, confirmed) =>
        Effect.sync(() => {
          sessions += 1
          parts = { total, confirmed: confirmed.length }
          inFlight = 0
          stored = confirmed.reduce((sum, length) => sum + length, 0)
          storedBefore = stored
          mostStored = Math.max(mostStored, stored)
          feasibility = Feasibility.unknown
          movedAt = monotonic()
        }),
      endSession: (because) => publish({ _tag: "SessionEnded", session: sessions, because, lost: stored }),
      reopenPart: (length) =>
        Effect.sync(() => {
          stored -= length
          parts = { total: parts.total, confirmed: parts.confirmed - 1 }
        }),
      beginAttempt: (length) => {
        let counted = 0
        const session = sessions
        line.began(monotonic())
        attempts += 1
        const release = () => {
          attempts -= 1
          if (session === sessions) inFlight -= counted
          line.ended(monotonic())
        }
        const count = (bytes: number) => {
          const added = Math.min(bytes, length - counted)
          counted += added
          if (session === sessions) inFlight += added
          moved(added)
        }
        let waitsSince = 0
        return {
          sent: count,
          waits: (waits) => {
            const at = monotonic()
            if (waits) waitsSince = at
            else {
              waited += at - waitsSince
              movedAt = at
            }
            waiting += waits ? 1 : -1
          },
          lost: () => {
            line.moved(-counted, monotonic())
            release()
          },
          confirmed: () => {
            count(length - counted)
            release()
            if (session !== sessions) return
            stored += length
            mostStored = Math.max(mostStored, stored)
            parts = { total: parts.total, confirmed: parts.confirmed + 1 }
          }
        }
      },
      assess: (time) =>
        Effect.flatMap(lookAtLimit, () => {
          const at = monotonic()
          const sent = stored + inFlight
          const speed = speedOf(at)
          const assessed = Option.isNone(speed) && limit.most === Number.POSITIVE_INFINITY
            ? feasibility
            : Feasibility.assess({
              size,
              sent: sent - storedBefore,
              remaining: size - sent,
              ...time,
              secondsSending: line.sending(at) / 1000,
              speed: Option.getOrElse(speed, () => unmeasured),
              limit: limit.most
            })
          const changed = assessed._tag !== feasibility._tag
          feasibility = assessed
          return Effect.as(changed ? publish({ _tag: "FeasibilityChanged", feasibility }) : Effect.void, assessed)
        }),
      mostAllowed: () => Number.isFinite(limit.most) ? limit.most : undefined,
      speed: () => {
        const at = monotonic()
        return line.busy(at) >= stalledAfterMillis ? speedOf(at) : Option.none()
      }
    }
  })
