/**
 * Stops an upload's transfers and lets them go on. What was in flight is sent again; no attempt is counted for it.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/**
 * The switch of one upload. Both directions may be asked for at any time and any number of times.
 *
 * @since 0.1.0
 * @category models
 */
export interface TransferSwitch {
  /** Gives whether it changed anything. */
  readonly turnOff: Effect.Effect<boolean>
  /** Gives whether it changed anything. */
  readonly turnOn: Effect.Effect<boolean>
  readonly isOff: () => boolean
  /** Waits until it is on. */
  readonly on: Effect.Effect<void>
  /** Calls when it is turned off, at once where it is; gives what ends that. */
  readonly whenOff: (call: () => void) => () => void
}

/**
 * A switch that is on. It tells of each change in the same step: whoever turns it the other way meanwhile is told of after it.
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
