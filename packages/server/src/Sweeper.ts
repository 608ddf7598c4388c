/**
 * What a service does without being asked: it looks after files that nobody looks after, and tells the hooks what happened.
 * Any number of instances may do so at once.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { TableFailed } from "./FileTable.js"
import { FileTable } from "./FileTable.js"
import { Hooks } from "./Hooks.js"
import { Uploads } from "./Uploads.js"

const EVENTS_AT_ONCE = 20
const EVENT_LEASE_MILLIS = 60_000

/**
 * Delivers up to 20 events that are due to the hooks, and answers how many were delivered. An event is gone only when its
 * hook has succeeded; one that fails, or is not done in a minute, is due again a minute after it was taken.
 *
 * @since 0.1.0
 * @category programs
 */
export const deliver: Effect.Effect<number, TableFailed, FileTable> = Effect.gen(function*() {
  const table = yield* FileTable
  const hooks = yield* Hooks
  const events = yield* table.events(EVENT_LEASE_MILLIS, EVENTS_AT_ONCE)
  const delivered = yield* Effect.forEach(
    events,
    (event) =>
      (event.kind === "completed" ? hooks.onCompleted(event) : hooks.onRemoved(event)).pipe(
        Effect.timeout(EVENT_LEASE_MILLIS),
        Effect.zipRight(table.delivered(event.id)),
        Effect.as(1),
        Effect.catchAllCause((cause) =>
          Effect.as(Effect.logWarning(`The event ${event.id} is not delivered yet`, cause), 0)
        )
      ),
    { concurrency: 4 }
  )
  return delivered.reduce((sum, one) => sum + one, 0)
})

const steady = <E, R>(what: string, effect: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R> =>
  Effect.catchAllCause(Effect.asVoid(effect), (cause) => Effect.logWarning(`The service cannot ${what}`, cause))

/**
 * Sweeps and delivers for as long as the layer lives. `every` is the pause between two sweeps and defaults to 5 seconds;
 * events are looked for each second.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: {
  readonly every?: Duration.DurationInput | undefined
}): Layer.Layer<never, never, Uploads | FileTable> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const { sweep } = yield* Uploads
    yield* Effect.forkScoped(
      Effect.repeat(steady("sweep", sweep), Schedule.spaced(Duration.decode(options?.every ?? "5 seconds")))
    )
    yield* Effect.forkScoped(Effect.repeat(steady("deliver events", deliver), Schedule.spaced("1 second")))
  }))
