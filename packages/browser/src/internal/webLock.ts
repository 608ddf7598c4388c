import type { Lock } from "@stevedore/core/UploadLedger"
import * as Effect from "effect/Effect"

const notTaken = (): void => {}

// Held until it is let go, or the tab ends, however it ends.
const take = (name: string): Effect.Effect<(() => void) | undefined> =>
  Effect.async((resume) => {
    navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        resume(Effect.succeed(undefined))
        return
      }
      return new Promise<void>((release) => resume(Effect.succeed(release)))
    }).catch(() => resume(Effect.succeed(undefined)))
  })

const acrossTabs = (prefix: string): Lock => (id) =>
  Effect.acquireRelease(
    take(`${prefix}/${id}`),
    (release) => Effect.sync(release ?? notTaken)
  ).pipe(Effect.map((release) => release !== undefined))

const withinPage = (): Lock => {
  const held = new Set<string>()
  return (id) =>
    Effect.acquireRelease(
      Effect.sync(() => !held.has(id) && held.add(id).has(id)),
      (taken) => Effect.sync(() => taken && held.delete(id))
    )
}

/**
 * A lock over all tabs of an origin. A page that is not served securely has no Web Locks: there it holds within the
 * page alone.
 */
export const make = (prefix: string): Effect.Effect<Lock> =>
  Effect.sync(() => "locks" in navigator ? acrossTabs(prefix) : withinPage())
