/**
 * What an upload counts while it runs. The counts are plain numbers, updated where bytes move. A reader samples them,
 * so ten thousand parts cost a reader only a few snapshots per second.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import * as Subscribable from "effect/Subscribable"
import * as Pulls from "../base/effect.js"
import type { UploadEvent } from "../UploadEvent.js"
import { isLast } from "../UploadEvent.js"
import type { UploadProgress } from "../UploadProgress.js"
import { isOver } from "../UploadProgress.js"
import * as Counts from "./counts.js"
import * as EventLog from "./eventLog.js"

export type {
  /** The counts of one attempt to send a part. */
  AttemptMonitor
} from "./counts.js"

/** The counts of one upload, for the engine that updates them. */
export interface UploadMonitor extends Counts.UploadCounts {
  /** The view for everybody else. */
  readonly progress: Subscribable.Subscribable<UploadProgress>
  /** The last 256 events and all that follow. Ends with the upload; if that died of a defect, with the defect. */
  readonly events: Stream.Stream<UploadEvent>
}

const samplePeriod = Duration.millis(100)

const eventsKept = 256

/** The counts of an upload of this size. */
export const make = (size: number): Effect.Effect<UploadMonitor> =>
  Effect.gen(function*() {
    const over = yield* Deferred.make<void>()
    const { events, ...listener } = EventLog.make<UploadEvent>({ kept: eventsKept, isLast })
    const counts = yield* Counts.make(size, listener)
    const { get } = counts.progress

    const later = Effect.zipRight(
      Effect.raceFirst(Effect.sleep(samplePeriod), Effect.interruptible(Deferred.await(over))),
      get
    )
    // Not a stream that concatenates itself recursively: that adds one level of channels with each sample
    const changes = Pulls.paginate(get, (look) =>
      Effect.map(look, (progress) => [progress, isOver(progress.phase) ? Option.none() : Option.some(later)]))

    return {
      ...counts,
      progress: Subscribable.make({ get, changes }),
      events,
      enter: (phase) =>
        Effect.zipLeft(counts.enter(phase), isOver(phase) ? Deferred.succeed(over, undefined) : Effect.void)
    }
  })
