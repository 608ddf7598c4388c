import type { Lock } from "@stevedore/core/UploadLedger"
import { makeLock } from "@stevedore/core/UploadLedger"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { nameOf } from "../base/thrown.js"

// The lock is held until it is released or the tab ends, however it ends. Releasing waits until the browser has taken
// it back. The failure is the browser's name for why it has no locks. Waiting for the lock until a signal aborts would
// refuse a free one: on a busy page the abort overtakes the browser's answer.
const take = (name: string): Effect.Effect<Effect.Effect<void> | undefined, string> =>
  Effect.async((resume) => {
    const over: Promise<unknown> = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) return resume(Effect.succeed(undefined))
      return new Promise<void>((release) => {
        const letGo = Effect.promise(() => {
          release()
          return over
        })
        resume(Effect.succeed(Effect.asVoid(letGo)))
      })
    }).catch((cause: unknown) => resume(Effect.fail(nameOf(cause))))
  })

// Another tab that opens takes each lock for a moment, to see which uploads are running.
const betweenTries = "20 millis"

const acrossTabs = (name: string, triesLeft = 5): Effect.Effect<boolean, string, Scope.Scope> =>
  Effect.acquireRelease(
    take(name),
    (letGo) => letGo ?? Effect.void
  ).pipe(Effect.flatMap((letGo) =>
    letGo === undefined && triesLeft > 0
      ? Effect.delay(acrossTabs(name, triesLeft - 1), betweenTries)
      : Effect.succeed(letGo !== undefined)
  ))

/**
 * A lock across all tabs of an origin. A page that is not served securely has no Web Locks, and a sandboxed one is
 * denied them: there the lock holds only within the page.
 */
export const make = (prefix: string): Effect.Effect<Lock> =>
  Effect.map(makeLock, (page) => {
    if (globalThis.navigator === undefined || !("locks" in navigator)) return page
    return (id) =>
      Effect.catchAll(acrossTabs(`${prefix}/${id}`), (name) =>
        Effect.zipRight(
          Effect.logDebug(`No Web Locks (${name}): other tabs do not see these uploads`),
          page(id)
        ))
  })
