/** Whether the page is online and visible, as far as the browser reports it. */
import type { UploadHandle } from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as PageSignals from "./base/pageSignals.js"

/**
 * `online` is what the browser knows about its network: `false` is certain, `true` is not. `visible` says whether the
 * page is visible; the browser may slow down a page that is not.
 *
 * @category models
 */
export interface Connectivity {
  readonly online: boolean
  readonly visible: boolean
}

/**
 * The current state.
 *
 * @category accessors
 */
export const current: Effect.Effect<Connectivity> = Effect.sync(PageSignals.read)

/**
 * The current state, and a new one whenever the browser reports a change or that the page woke up.
 *
 * @category streams
 */
export const changes: Stream.Stream<Connectivity> = Stream.asyncPush<Connectivity>((emit) =>
  Effect.suspend(() => {
    const tell = () => emit.single(PageSignals.read())
    return Effect.acquireRelease(
      Effect.sync(() => PageSignals.listen(tell)),
      (stop) => Effect.sync(stop)
    ).pipe(Effect.zipRight(Effect.sync(tell)))
  })
)

/**
 * Pauses an upload while the browser is offline, for as long as the scope is open. No attempt is wasted on a network
 * that is known to be down. An upload that is paused by its handle, before or in the meantime, stays paused.
 *
 * @example
 * import { Connectivity } from "@stevedore/browser"
 * import { Uploads, type UploadSource } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const patient = (source: UploadSource) =>
 *   Effect.scoped(Effect.gen(function*() {
 *     const upload = yield* Uploads.start(source)
 *     yield* Connectivity.pausingOffline(upload)
 *     return yield* upload.await
 *   }))
 *
 * @category combinators
 */
export const pausingOffline = (
  upload: Pick<UploadHandle, "pauseScoped">
): Effect.Effect<void, never, Scope.Scope> =>
  changes.pipe(
    Stream.map(({ online }) => online),
    Stream.changes,
    Stream.flatMap(
      (online) => online ? Stream.empty : Stream.unwrapScoped(Effect.as(upload.pauseScoped, Stream.never)),
      { switch: true }
    ),
    Stream.runDrain,
    Effect.forkScoped,
    Effect.asVoid
  )
