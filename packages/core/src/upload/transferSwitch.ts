/**
 * Stops an upload's transfers, and lets them continue. What was in flight is sent again, and no attempt is counted for
 * it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"

/** The switch of one upload. Either direction may be requested at any time, any number of times. */
export interface TransferSwitch {
  readonly turnOff: Effect.Effect<void>
  /** It stays off as long as anybody holds it off. */
  readonly turnOn: Effect.Effect<void>
  /** Off for as long as the scope is open, whichever way it is turned in the meantime. */
  readonly holdOff: Effect.Effect<void, never, Scope.Scope>
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
 */
export const make = (tell: (isOff: boolean) => void): TransferSwitch => {
  let turnedOn: Deferred.Deferred<void> | undefined
  let isTurnedOff = false
  let holders = 0
  const calls = new Set<() => void>()
  const on: Effect.Effect<void> = Effect.suspend(() =>
    turnedOn === undefined ? Effect.void : Effect.zipRight(Deferred.await(turnedOn), on)
  )
  const settle = (): void => {
    const isOff = isTurnedOff || holders > 0
    if (isOff === (turnedOn !== undefined)) return
    if (turnedOn === undefined) {
      turnedOn = Deferred.unsafeMake<void>(FiberId.none)
      tell(true)
      calls.forEach((call) => call())
    } else {
      Deferred.unsafeDone(turnedOn, Effect.void)
      turnedOn = undefined
      tell(false)
    }
  }
  const turn = (isOff: boolean): Effect.Effect<void> =>
    Effect.sync(() => {
      isTurnedOff = isOff
      settle()
    })
  const count = (more: number): Effect.Effect<void> =>
    Effect.sync(() => {
      holders += more
      settle()
    })
  return {
    on,
    isOff: () => turnedOn !== undefined,
    turnOff: turn(true),
    turnOn: turn(false),
    holdOff: Effect.acquireRelease(count(1), () => count(-1)),
    whenOff: (call) => {
      if (turnedOn !== undefined) call()
      calls.add(call)
      return () => void calls.delete(call)
    }
  }
}
