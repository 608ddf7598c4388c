/**
 * The browser's question before a page is left.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const ask = (event: BeforeUnloadEvent) => event.preventDefault()

// Each of those who ask for it has a listener of its own: the last one to leave ends the question.
const listen: Effect.Effect<(event: BeforeUnloadEvent) => void> = Effect.sync(() => {
  const listener = (event: BeforeUnloadEvent) => ask(event)
  addEventListener("beforeunload", listener)
  return listener
})

const stop = (listener: (event: BeforeUnloadEvent) => void): Effect.Effect<void> =>
  Effect.sync(() => removeEventListener("beforeunload", listener))

/**
 * For as long as the scope, whoever closes or leaves the page is asked whether they mean it. Browsers ask only those who
 * have used the page, and in words of their own.
 *
 * @since 0.1.0
 * @category guards
 */
export const scoped: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(Effect.acquireRelease(listen, stop))

/**
 * The same while an effect runs.
 *
 * @example
 * import { UnloadWarning } from "@stevedore/browser"
 * import { Uploads, type UploadSource } from "@stevedore/core"
 *
 * const guarded = (source: UploadSource) => UnloadWarning.during(Uploads.upload(source))
 *
 * @since 0.1.0
 * @category guards
 */
export const during = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(listen, () => effect, stop)
