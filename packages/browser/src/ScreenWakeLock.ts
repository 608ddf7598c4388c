/** Keeps the screen on, and with it the machine awake, during an upload. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as PageSignals from "./base/pageSignals.js"

const request: Effect.Effect<WakeLockSentinel | undefined> = Effect.suspend(() =>
  "wakeLock" in navigator
    ? Effect.tryPromise(() => navigator.wakeLock.request("screen")).pipe(Effect.orElseSucceed(() => undefined))
    : Effect.succeed(undefined)
)

const release = (lock: WakeLockSentinel | undefined): Effect.Effect<void> =>
  lock === undefined ? Effect.void : Effect.ignore(Effect.tryPromise(() => lock.release()))

/**
 * Holds the wake lock for as long as the scope is open, if the browser has one and allows it. The page must be served
 * securely and be visible, and the browser may refuse on low battery. The browser releases the lock when the page is
 * hidden; it is acquired again when the page is visible again. Nothing fails if there is no lock.
 *
 * @example
 * import { ScreenWakeLock } from "@stevedore/browser"
 * import { Uploads, type UploadSource } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const awake = (source: UploadSource) => Effect.scoped(Effect.zipRight(ScreenWakeLock.scoped, Uploads.upload(source)))
 *
 * @category guards
 */
export const scoped: Effect.Effect<void, never, Scope.Scope> = PageSignals.until(({ visible }) => visible).pipe(
  Effect.zipRight(Effect.acquireRelease(request, release)),
  Effect.zipRight(PageSignals.until(({ visible }) => !visible)),
  Effect.scoped,
  Effect.forever,
  Effect.forkScoped,
  Effect.asVoid
)
