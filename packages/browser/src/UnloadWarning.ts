/** The browser's question before the user leaves the page. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const ask = (event: BeforeUnloadEvent) => event.preventDefault()

// Each scope has its own listener, so the question goes away only with the last one.
const listen: Effect.Effect<(event: BeforeUnloadEvent) => void> = Effect.sync(() => {
  const listener = (event: BeforeUnloadEvent) => ask(event)
  addEventListener("beforeunload", listener)
  return listener
})

const stop = (listener: (event: BeforeUnloadEvent) => void): Effect.Effect<void> =>
  Effect.sync(() => removeEventListener("beforeunload", listener))

/**
 * For as long as the scope is open, the browser asks users to confirm that they want to close or leave the page. It
 * asks only users who have interacted with the page, and in its own words.
 *
 * @category guards
 */
export const scoped: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(Effect.acquireRelease(listen, stop))

/**
 * Like {@link scoped}, while an effect runs.
 *
 * @example
 * import { UnloadWarning } from "@stevedore/browser"
 * import { Uploads, type UploadSource } from "@stevedore/core"
 *
 * const guarded = (source: UploadSource) => UnloadWarning.during(Uploads.upload(source))
 *
 * @category guards
 */
export const during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(listen, () => effect, stop)
