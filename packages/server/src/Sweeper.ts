/**
 * What a service does without being asked: it looks after files that nobody looks after, and tells the hooks what happened.
 * Any number of instances may do so at once.
 */
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import * as Struct from "effect/Struct"
import * as ServerMetrics from "./base/metrics.js"
import { tally } from "./base/text.js"
import type { FileEvent, Quota, TableFailed } from "./FileTable.js"
import { FileTable, KINDS, MOST_DELIVERIES } from "./FileTable.js"
import { Hooks, ignored } from "./Hooks.js"
import { Uploads } from "./Uploads.js"

const EVENTS_AT_ONCE = 20
const EVENT_LEASE_MILLIS = 60_000

const undelivered = ({ attempts, id }: FileEvent, cause: Cause.Cause<unknown>): Effect.Effect<number> => {
  const isLast = attempts + 1 >= MOST_DELIVERIES
  return Effect.as(
    isLast
      ? Effect.zipRight(
        Metric.increment(ServerMetrics.deadEvents),
        Effect.logError(`The event ${id} was not delivered in ${MOST_DELIVERIES} tries, and is not tried again`, cause)
      )
      : Effect.logWarning(`The event ${id} is not delivered yet`, cause),
    0
  )
}

/** The events that a hook of this instance wants to be told of; others are left to other instances. */
const taken = (limit: number) =>
  Effect.gen(function*() {
    const { onCompleted: completed, onFailed: failed, onRemoved: removed } = yield* Hooks
    const hooks = { completed, failed, removed }
    const kinds = KINDS.filter((kind) => hooks[kind] !== ignored)
    const events = kinds.length === 0 ? [] : yield* (yield* FileTable).events(EVENT_LEASE_MILLIS, limit, kinds)
    return events.map((event) => ({ event, tell: hooks[event.kind] }))
  })

/**
 * Delivers up to 20 events that are due to the hooks, and answers how many were delivered. What no hook of this instance wants to
 * be told of, it leaves to others. An event is gone only when its
 * hook has succeeded; one that fails, or is not done in a minute, is due again a minute after it was taken, then after two, four,
 * and at most 64 minutes. After a day it is tried no more, but stays in the table.
 *
 * @category programs
 */
export const deliver: Effect.Effect<number, TableFailed, FileTable> = Effect.gen(function*() {
  const table = yield* FileTable
  const delivered = yield* Effect.forEach(
    yield* taken(EVENTS_AT_ONCE),
    ({ event, tell }) =>
      tell(event).pipe(
        // a hook that cannot be interrupted is left behind
        Effect.disconnect,
        Effect.timeout(EVENT_LEASE_MILLIS),
        Effect.zipRight(table.delivered(event.id)),
        Effect.as(1),
        Effect.catchAllCause((cause) => undelivered(event, cause))
      ),
    // one that hangs holds up none of the others
    { concurrency: "unbounded" }
  )
  return delivered.reduce((sum, one) => sum + one, 0)
})

/**
 * Sets the gauges of what the table has: what tenants have and use of their `quota`, if all have the same, events that are not
 * delivered, and files that wait for a sweep.
 *
 * @category programs
 */
export const measure = (quota?: Quota): Effect.Effect<void, TableFailed, FileTable> =>
  Effect.gen(function*() {
    const measures = yield* (yield* FileTable).measures
    const { due, largestBytes, largestFiles, oldestSeconds, resting, waiting } = measures
    const { bytes = Infinity, files = Infinity } = quota ?? {}
    const stored = { ...measures, quotaUsed: Math.max(largestBytes / bytes, largestFiles / files) }
    yield* Effect.all([
      ...Struct.entries(ServerMetrics.stored).map(([name, gauge]) => Metric.set(gauge, stored[name])),
      Metric.set(Metric.tagged(ServerMetrics.outbox, "state", "waiting"), waiting),
      Metric.set(Metric.tagged(ServerMetrics.outbox, "state", "resting"), resting),
      Metric.set(ServerMetrics.outboxLag, Math.max(0, oldestSeconds)),
      Metric.set(ServerMetrics.due, due)
    ], { discard: true })
  })

/**
 * How long final files are kept, by their tenant, from the beginning of their upload; undefined for ever.
 *
 * @category models
 */
export type Keep = (tenant: string) => Duration.DurationInput | undefined

const AGED_AT_ONCE = 100

/** So many may always be removed. */
const FEW = 10

/**
 * Removes what is older than its tenant keeps, as if it were deleted by a client, and answers how many files that were. It removes
 * nothing while the ages of the table are in doubt, nor if that were more than ten files and more than `share` of all, 0.5 by
 * default. The log has a line for what it removes, and one when it does not.
 *
 * @category programs
 */
export const expire = (keep: Keep, share = 0.5): Effect.Effect<number, TableFailed, FileTable> => {
  let told = 0
  return Effect.gen(function*() {
    const table = yield* FileTable
    const { doubt, now } = yield* table.ages
    if (doubt !== undefined) return 0
    const oldest = { limit: AGED_AT_ONCE, direction: "asc", after: undefined } as const
    const ofTenant = (tenant: string, before: number): Effect.Effect<number, TableFailed> =>
      Effect.gen(function*() {
        const aged = (yield* table.page(tenant, oldest)).filter(({ createdAt }) => createdAt < before)
        const gone = yield* Effect.filter(aged, ({ id }) => table.discard(tenant, id))
        // of a page whose files others have removed, nothing is counted, and the rest waits for the next round
        return gone.length < AGED_AT_ONCE ? gone.length : gone.length + (yield* ofTenant(tenant, before))
      })
    const kept = (yield* table.tenants).flatMap((tenant) => {
      const age = keep(tenant)
      return age === undefined ? [] : [[tenant, now - Duration.toMillis(age)] as const]
    })
    const counts = yield* Effect.forEach(kept, ([tenant, before]) => table.count(tenant, before))
    const aged = counts.reduce((sum, count) => sum + count, 0)
    if (aged > FEW && aged > share * (yield* table.measures).files) {
      // again when it is twice as much
      if (aged > 2 * told) {
        told = aged
        yield* Effect.logWarning(
          `${aged} files are older than they are kept, which is more than ${Math.round(share * 100)} % of ` +
            "all: none is removed until --keep-share allows it"
        )
      }
      return 0
    }
    told = 0
    const gone = yield* Effect.forEach(
      kept.filter((_, index) => counts[index] !== 0),
      ([tenant, before]) => Effect.map(ofTenant(tenant, before), (count) => [tenant, count] as const)
    )
    const removed = gone.reduce((sum, [, count]) => sum + count, 0)
    if (removed > 0) {
      yield* Effect.logInfo(`Removed ${removed} files that were older than they are kept: ${tally(gone)}`)
    }
    return removed
  })
}

const steady = <E, R>(what: string, effect: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R> =>
  Effect.catchAllCause(Effect.asVoid(effect), (cause) => Effect.logWarning(`The service cannot ${what}`, cause))

/** After a round that has done something, the next one at once: of all that are under way, one goes on so. */
const goingOn = <E, R>(round: Effect.Effect<number, E, R>) => {
  let isOn = false
  const onward: Effect.Effect<void, E, R> = Effect.flatMap(round, (done) => done > 0 ? onward : Effect.void)
  return Effect.flatMap(round, (done) => {
    if (done === 0 || isOn) return Effect.void
    isOn = true
    return Effect.ensuring(onward, Effect.sync(() => (isOn = false)))
  })
}

/**
 * Sweeps and delivers for as long as the layer lives. `every` is the time between two sweeps that find nothing and defaults to
 * 5 seconds; events are looked for each second, and what is older than `keep` says each minute, if that is no more than
 * `keepShare` of all files, which defaults to 0.5; the gauges are set each 15 seconds. What a hook takes long for holds up
 * nothing else.
 *
 * @category layers
 */
export const layer = (options?: {
  readonly every?: Duration.DurationInput | undefined
  readonly keep?: Keep | undefined
  readonly keepShare?: number | undefined
  readonly quota?: Quota | undefined
}): Layer.Layer<never, never, Uploads | FileTable> =>
  Layer.scopedDiscard(Effect.gen(function*() {
    const { sweep } = yield* Uploads
    const scope = yield* Effect.scope
    // before anything happens: what its hooks want to be told of is written from now on
    yield* steady("say what its hooks are told of", taken(0))
    const eachTime = <E, R>(what: string, round: Effect.Effect<unknown, E, R>, every: Duration.DurationInput) =>
      // a round of its own: one that waits for a hook does not keep the next from beginning
      Effect.forkIn(steady(what, round), scope).pipe(
        Effect.repeat(Schedule.spaced(Duration.decode(every))),
        Effect.forkIn(scope)
      )
    yield* eachTime("sweep", goingOn(sweep), options?.every ?? "5 seconds")
    yield* eachTime("deliver events", goingOn(deliver), "1 second")
    yield* eachTime("count what it has", measure(options?.quota), "15 seconds")
    if (options?.keep !== undefined) {
      yield* eachTime("remove what is old", expire(options.keep, options.keepShare), "1 minute")
    }
  }))
