import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { awakeFor } from "../base/awakeFor.js"

/**
 * Measures how long a call waits for the rate limit, because such a wait counts against no timeout.
 *
 * @internal
 */
export const makeGateWait = (clock: Clock.Clock) => {
  const over = Effect.unsafeMakeLatch(true)
  const now = () => Number(clock.unsafeCurrentTimeNanos()) / 1e6
  let waited = 0
  let since: number | undefined
  // `added` is how much of the waits the timer has already been extended by
  const rest = (added: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const began = now()
      return Effect.flatMap(over.await, () => {
        const known = added + now() - began
        const left = Math.ceil(waited - known)
        return left > 0 ? Effect.zipRight(awakeFor(Duration.millis(left)), rest(known + left)) : Effect.void
      })
    })
  return {
    begin: (): void => {
      since = now()
      over.unsafeClose()
    },
    /** Does nothing if no wait has begun. */
    end: (): void => {
      if (since === undefined) return
      waited += now() - since
      since = undefined
      over.unsafeOpen()
    },
    /** Ends once this time has passed, not counting the waits. */
    timer: (limit: Duration.Duration): Effect.Effect<void> => Effect.zipRight(awakeFor(limit), rest(0))
  }
}
