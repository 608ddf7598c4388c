/** What the steps of an upload share: the ports, and the options with their defaults. */
import type * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import type { Principal } from "../Authorize.js"
import { memoized } from "../base/memoized.js"
import * as ServerMetrics from "../base/metrics.js"
import type { FileStoreService } from "../FileStore.js"
import type { FileRow, FileState, FileTableService, Quota } from "../FileTable.js"
import type { HooksService } from "../Hooks.js"

/** The options of an upload, of which each has its value. */
export interface Terms {
  readonly urlSeconds: number
  readonly singleSeconds: number
  readonly downloadSeconds: number
  readonly lifetimeMillis: number
  readonly leaseMillis: number
  readonly storeTimeout: Duration.DurationInput
  /** How often a Complete tries again while another one is under way. */
  readonly turns: number
  readonly sizes: { readonly recommendedPartSize: number; readonly minimumPartSize: number }
  readonly encryption: Readonly<Record<string, string>>
  readonly partHeaders: Readonly<Record<string, string>>
  readonly signed: ReadonlyArray<"content-length" | "content-type">
  readonly quotaOf: (who: Principal) => Quota | undefined
  readonly keyOf: (who: Principal, fileId: string) => string
}

export interface State {
  readonly table: FileTableService
  readonly store: FileStoreService
  readonly hooks: HooksService
  readonly terms: Terms
  /** What this instance completes: whoever asks for the same waits for its end, and no longer. */
  readonly underWay: Map<string, Deferred.Deferred<void>>
}

const storeSeconds = memoized((operation) => Metric.tagged(ServerMetrics.storeSeconds, "operation", operation))

/** The store, whose calls are measured. */
export const timed = (store: FileStoreService): FileStoreService => {
  const measured = <A, E, R>(operation: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Metric.trackDurationWith(call, storeSeconds(operation), Duration.toSeconds)
  return {
    ...store,
    createUpload: (...asked) => measured("create", store.createUpload(...asked)),
    completeUpload: (...asked) => measured("complete", store.completeUpload(...asked)),
    abortUpload: (...asked) => measured("abort", store.abortUpload(...asked)),
    opened: (...asked) => measured("opened", store.opened(...asked)),
    head: (...asked) => measured("head", store.head(...asked)),
    seal: (...asked) => measured("seal", store.seal(...asked)),
    remove: (...asked) => measured("remove", store.remove(...asked))
  }
}

const states = memoized((state) => Metric.tagged(ServerMetrics.states, "state", state))

/** Counts a file that has come into a state. */
export const came = (state: FileState): Effect.Effect<void> => Metric.increment(states(state))

/** A lease that is renewed while something runs, for about as long as the store may take. */
export const leased = <A, E>(
  { table, terms: { leaseMillis, storeTimeout } }: State,
  row: FileRow,
  owner: string,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.fork(Effect.interruptible(
      Effect.suspend(() => table.renew(row.id, owner, leaseMillis)).pipe(
        Effect.ignoreLogged,
        Effect.delay(Duration.millis(leaseMillis / 3)),
        Effect.repeatN(Math.ceil(Duration.toMillis(storeTimeout) / (leaseMillis / 3)))
      )
    )),
    () => effect,
    Fiber.interrupt
  )
