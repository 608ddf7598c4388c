/**
 * Whether the page is online and in sight, as far as the browser tells.
 *
 * @since 0.1.0
 */
import type { UploadHandle } from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as PageSignals from "./internal/pageSignals.js"

/**
 * `online` is what the browser knows of its network: `false` is certain, `true` is not. `visible` says whether the page
 * is in sight; one that is not may be slowed down.
 *
 * @since 0.1.0
 * @category models
 */
export interface Connectivity {
  readonly online: boolean
  readonly visible: boolean
}

/**
 * As it is now.
 *
 * @since 0.1.0
 * @category accessors
 */
export const current: Effect.Effect<Connectivity> = Effect.sync(PageSignals.read)

/**
 * As it is now, and whenever the browser tells of a change, or that the page woke up.
 *
 * @since 0.1.0
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
 * For as long as the scope, pauses an upload while the browser is offline, and lets it go on afterwards: no attempt is
 * spent on a network that is known to be down. What somebody had paused before stays paused.
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
 * @since 0.1.0
 * @category combinators
 */
export const pausingOffline = (upload: UploadHandle): Effect.Effect<void, never, Scope.Scope> =>
  Effect.suspend(() => {
    let paused = false
    return changes.pipe(
      Stream.map(({ online }) => online),
      Stream.changes,
      Stream.runForEach((online) =>
        Effect.gen(function*() {
          if (!online && (yield* upload.progress.get).phase !== "paused") {
            paused = true
            yield* upload.pause
          } else if (online && paused) {
            paused = false
            yield* upload.resume
          }
        })
      ),
      Effect.forkScoped,
      Effect.asVoid
    )
  })
