/**
 * Flushes a file to disk beside its writes, so that little is left to wait for at the end. A system tells an error of the disk
 * once: whoever asks afterwards learns of it here.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"

/**
 * How many bytes may wait for the disk before a flush is begun.
 *
 * @category constants
 */
export const FLUSH_BYTES = 32 * 1_048_576

/**
 * The flushes of a file, one at a time.
 *
 * @category models
 */
export interface Flushes<E> {
  /** To be run after each write. Begins a flush where it is due, and does not wait for it. */
  readonly wrote: (bytes: number) => Effect.Effect<void>
  /** Flushes what was written. Fails if any flush of the file has failed: from then on, there is none. */
  readonly now: Effect.Effect<void, E>
}

/**
 * The flushes of a file that stays open until the scope ends, which waits for the one under way.
 *
 * @category constructors
 */
export const make = <E>(flush: Effect.Effect<void, E>): Effect.Effect<Flushes<E>, never, Scope.Scope> =>
  Effect.zipWith(Effect.scope, Effect.makeSemaphore(1), (scope, one) => {
    let unflushed = 0
    let told: Exit.Exit<void, E> = Exit.void
    const now = one.withPermits(1)(Effect.uninterruptible(Effect.suspend(() => {
      if (Exit.isFailure(told)) return told
      unflushed = 0
      return Effect.onExit(flush, (exit) =>
        Effect.sync(() => {
          told = exit
        }))
    })))
    const begun = Effect.asVoid(Effect.forkIn(Effect.exit(now), scope))
    return {
      now,
      wrote: (bytes) => {
        const wasDue = unflushed >= FLUSH_BYTES
        unflushed += bytes
        return wasDue || unflushed < FLUSH_BYTES ? Effect.void : begun
      }
    }
  })
