import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Feasibility from "../base/feasibility.js"
import { monotonicMillis } from "../base/serverClock.js"
import type { UploadError } from "../UploadError.js"
import type { UploadEvent } from "../UploadEvent.js"
import type { UploadPhase, UploadProgress } from "../UploadProgress.js"
import type { EventLog } from "./eventLog.js"
import * as LineSpeed from "./lineSpeed.js"

/** The counts of one attempt to send a part. */
export interface AttemptMonitor {
  /** Some bytes were handed to the network. */
  readonly sent: (bytes: number) => void
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
}

type Listener = Pick<EventLog<UploadEvent>, "add" | "die">

const stalledAfterMillis = 10_000

const phaseEvents: { readonly [Phase in UploadPhase]?: UploadEvent } = {
  completing: { _tag: "Completing" }
}

const secondsOf = (remaining: number, speed: number): Duration.Duration =>
  speed > 0 ? Duration.seconds(remaining / speed) : Duration.infinity

/** For an upload that nobody watches. */
export const untold: Listener = { add: constVoid, die: constVoid }

/**
 * The counts of an upload of this size. Each event is told once.
 *
 * @internal
 */
export const make = (size: number, { add, die }: Listener): Effect.Effect<UploadCounts> =>
  Effect.map(Effect.clock, (clock) => {
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

    const stalledSince = (at: number): Option.Option<Date> =>
      phase === "uploading" && !paused && at - movedAt >= stalledAfterMillis
        ? Option.some(new Date(clock.unsafeCurrentTimeMillis() - (at - movedAt)))
        : Option.none()

    const get = Effect.sync((): UploadProgress => {
      const at = monotonic()
      const sent = Math.min(size, stored + inFlight)
      const remaining = size - sent
      const speed = Option.filter(line.speed(at), ({ likely }) => likely > 0)
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
        const release = () => {
          if (session === sessions) inFlight -= counted
          line.ended(monotonic())
        }
        const count = (bytes: number) => {
          const added = Math.min(bytes, length - counted)
          counted += added
          if (session === sessions) inFlight += added
          moved(added)
        }
        return {
          sent: count,
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
        Effect.suspend(() => {
          const at = monotonic()
          const sent = stored + inFlight
          const assessed = Option.match(line.speed(at), {
            onNone: () => feasibility,
            onSome: (speed) =>
              Feasibility.assess({
                size,
                sent: sent - storedBefore,
                remaining: size - sent,
                ...time,
                secondsSending: line.sending(at) / 1000,
                speed
              })
          })
          const changed = assessed._tag !== feasibility._tag
          feasibility = assessed
          return Effect.as(changed ? publish({ _tag: "FeasibilityChanged", feasibility }) : Effect.void, assessed)
        }),
      speed: () => {
        const at = monotonic()
        return line.busy(at) >= stalledAfterMillis ? line.speed(at) : Option.none()
      }
    }
  })
