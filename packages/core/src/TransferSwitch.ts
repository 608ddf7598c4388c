/**
 * Stops an upload's transfers, and lets them continue. What was in flight is sent again, and no attempt is counted for
 * it.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/**
 * The switch of one upload. Either direction may be requested at any time, any number of times.
 *
 * @since 0.1.0
 * @category models
 */
export interface TransferSwitch {
  /** Returns whether it changed anything. */
  readonly turnOff: Effect.Effect<boolean>
  /** Returns whether it changed anything. */
  readonly turnOn: Effect.Effect<boolean>
  readonly isOff: () => boolean
  /** Waits until it is on. */
  readonly on: Effect.Effect<void>
  /**
   * Calls back when it is turned off, or at once if it is off already. Returns a function that unregisters the
   * callback.
   */
  readonly whenOff: (call: () => void) => () => void
}

/**
 * A switch that is turned on. It reports each change in the same step, so a turn the other way in the meantime is
 * reported after it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (tell: (isOff: boolean) => void): TransferSwitch => {
  let turnedOn: Deferred.Deferred<void> | undefined
  const calls = new Set<() => void>()
  const on: Effect.Effect<void> = Effect.suspend(() =>
    turnedOn === undefined ? Effect.void : Effect.zipRight(Deferred.await(turnedOn), on)
  )
  return {
    on,
    isOff: () => turnedOn !== undefined,
    turnOff: Effect.sync(() => {
      if (turnedOn !== undefined) return false
      turnedOn = Deferred.unsafeMake<void>(FiberId.none)
      tell(true)
      calls.forEach((call) => call())
      return true
    }),
    turnOn: Effect.sync(() => {
      if (turnedOn === undefined) return false
      Deferred.unsafeDone(turnedOn, Effect.void)
      turnedOn = undefined
      tell(false)
      return true
    }),
    whenOff: (call) => {
      if (turnedOn !== undefined) call()
      calls.add(call)
      return () => void calls.delete(call)
    }
  }
}
