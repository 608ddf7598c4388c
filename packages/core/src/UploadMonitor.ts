/**
 * What an upload counts while it runs. The counts are plain numbers, changed where bytes move; a reader samples them,
 * so ten thousand parts cost a reader a few snapshots a second.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Subscribable from "effect/Subscribable"
import type { UploadPhase, UploadProgress } from "./UploadProgress.js"

/**
 * The counts of one attempt to put a part.
 *
 * @since 0.1.0
 * @category models
 */
export interface AttemptMonitor {
  /** Some bytes were handed to the network. */
  readonly sent: (bytes: number) => void
  /** The attempt failed: what it had sent does not count. */
  readonly lost: () => void
  /** Storage has the part. */
  readonly confirmed: () => void
}

/**
 * The counts of one upload, for the engine that changes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadMonitor {
  /** What others may see. */
  readonly progress: Subscribable.Subscribable<UploadProgress>
  /** A phase begins. */
  readonly enter: (phase: UploadPhase) => Effect.Effect<void>
  /** A session begins, with the lengths of the parts that storage has of it already. */
  readonly beginSession: (parts: number, confirmed: ReadonlyArray<number>) => Effect.Effect<void>
  /** A part of so many bytes that storage had is in doubt and will be put again. */
  readonly reopenPart: (length: number) => Effect.Effect<void>
  /** An attempt begins to put a part of so many bytes. */
  readonly beginAttempt: (length: number) => AttemptMonitor
}

const samplePeriod = Duration.millis(100)

const isOver = (phase: UploadPhase): boolean => phase === "completed" || phase === "failed"

/**
 * The counts of an upload of so many bytes.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (size: number): Effect.Effect<UploadMonitor> =>
  Effect.map(Effect.zip(Deferred.make<void>(), Clock.currentTimeMillis), ([over, now]) => {
    let phase: UploadPhase = "preparing"
    let sessions = 0
    let parts = { total: 0, confirmed: 0 }
    let startedAt = now
    let inFlight = 0
    let stored = 0
    let storedBefore = 0
    let mostStored = 0

    const snapshot = (at: number): UploadProgress => {
      const sent = Math.min(size, stored + inFlight)
      const elapsed = (at - startedAt) / 1000
      const moved = sent - storedBefore
      const speed = elapsed >= 1 && moved > 0 ? Option.some(moved / elapsed) : Option.none()
      return {
        phase,
        size,
        sent,
        confirmed: mostStored,
        parts,
        sessions,
        speed,
        timeLeft: Option.map(speed, (bytesPerSecond) => Duration.seconds((size - sent) / bytesPerSecond))
      }
    }
    const get = Effect.map(Clock.currentTimeMillis, snapshot)

    const following: Stream.Stream<UploadProgress> = Stream.unwrap(Effect.map(
      Effect.zipRight(Effect.raceFirst(Effect.sleep(samplePeriod), Deferred.await(over)), get),
      (progress) =>
        isOver(progress.phase) ? Stream.succeed(progress) : Stream.concat(Stream.succeed(progress), following)
    ))
    const changes = Stream.unwrap(
      Effect.map(
        get,
        (progress) =>
          isOver(progress.phase) ? Stream.succeed(progress) : Stream.concat(Stream.succeed(progress), following)
      )
    )

    return {
      progress: Subscribable.make({ get, changes }),
      enter: (entered) =>
        Effect.suspend(() => {
          phase = entered
          return isOver(entered) ? Effect.asVoid(Deferred.succeed(over, undefined)) : Effect.void
        }),
      beginSession: (total, confirmed) =>
        Effect.map(Clock.currentTimeMillis, (at) => {
          sessions += 1
          parts = { total, confirmed: confirmed.length }
          startedAt = at
          inFlight = 0
          stored = confirmed.reduce((sum, length) => sum + length, 0)
          storedBefore = stored
          mostStored = Math.max(mostStored, stored)
        }),
      reopenPart: (length) =>
        Effect.sync(() => {
          stored -= length
          parts = { total: parts.total, confirmed: parts.confirmed - 1 }
        }),
      beginAttempt: (length) => {
        let counted = 0
        const session = sessions
        const release = () => {
          if (session === sessions) inFlight -= counted
          counted = 0
        }
        return {
          sent: (bytes) => {
            const added = Math.min(bytes, length - counted)
            counted += added
            if (session === sessions) inFlight += added
          },
          lost: release,
          confirmed: () => {
            release()
            if (session !== sessions) return
            stored += length
            mostStored = Math.max(mostStored, stored)
            parts = { total: parts.total, confirmed: parts.confirmed + 1 }
          }
        }
      }
    }
  })
