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
  /** Waits until it is off. */
  readonly off: Effect.Effect<void>
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
  let isOff = false
  let turned = Deferred.unsafeMake<void>(FiberId.none)
  const calls = new Set<() => void>()
  const turn = (off: boolean) =>
    Effect.sync(() => {
      if (isOff === off) return false
      isOff = off
      const before = turned
      turned = Deferred.unsafeMake<void>(FiberId.none)
      Deferred.unsafeDone(before, Effect.void)
      if (off) calls.forEach((call) => call())
      return true
    })
  const until = (off: boolean): Effect.Effect<void> =>
    Effect.suspend(() => isOff === off ? Effect.void : Effect.zipRight(Deferred.await(turned), until(off)))
  const whenOff = (call: () => void) => {
    if (isOff) call()
    calls.add(call)
    return () => void calls.delete(call)
  }
  return { turnOff: turn(true), turnOn: turn(false), isOff: () => isOff, on: until(false), off: until(true), whenOff }
})
