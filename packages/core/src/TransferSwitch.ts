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
 * A switch that is on.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<TransferSwitch> = Effect.sync(() => {
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
      calls.forEach((call) => call())
      return true
    }),
    turnOn: Effect.suspend(() => {
      const before = turnedOn
      turnedOn = undefined
      return before === undefined ? Effect.succeed(false) : Deferred.succeed(before, undefined)
    }),
    whenOff: (call) => {
      if (turnedOn !== undefined) call()
      calls.add(call)
      return () => void calls.delete(call)
    }
  }
})
