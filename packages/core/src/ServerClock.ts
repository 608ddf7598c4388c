/**
 * The server's time, held on our monotonic clock: a wall clock that is wrong, or is set, changes nothing. A wall clock
 * that jumps ahead of the monotonic one is how a computer that slept is recognized.
 *
 * @since 0.1.0
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * The server's time as one upload knows it. All times are in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerClock {
  /** The time of the server. */
  readonly now: () => number
  /** The server's time less our wall clock's. */
  readonly offset: () => number
  /** A session was opened whose answer said that the server's clock is so far ahead of our wall clock. */
  readonly opened: (clockOffset: number) => void
  /** Storage told its time. It is storage that judges whether a URL has ended, so its word stands from now on. */
  readonly told: (storageTime: number) => void
  /** How often the computer was found to have slept. */
  readonly sleeps: () => number
  /** Our monotonic clock, for measuring how long something takes. */
  readonly monotonic: () => number
}

/** Clocks are adjusted by less than this without anybody having slept. */
const shortestSleep = 5000

/**
 * Our monotonic clock in milliseconds.
 *
 * @since 0.1.0
 * @category reading
 */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/**
 * The server's time by a clock of ours, taken to be what that says until a session says otherwise.
 *
 * @since 0.1.0
 * @category constructors
 */
export const by = (clock: Clock.Clock): ServerClock => {
  const monotonic = () => monotonicMillis(clock)
  let wallThen = clock.unsafeCurrentTimeMillis()
  let monotonicThen = monotonic()
  let serverThen = wallThen
  let storageHasTold = false
  let sleeps = 0

  const look = () => {
    const wall = clock.unsafeCurrentTimeMillis()
    const passed = monotonic() - monotonicThen
    const jumped = wall - wallThen - passed
    const slept = jumped >= shortestSleep
    if (slept) sleeps += 1
    wallThen = wall
    monotonicThen += passed
    // A monotonic clock stands still while a computer sleeps, and the server's does not.
    serverThen += passed + (slept ? jumped : 0)
  }

  return {
    now: () => {
      look()
      return serverThen
    },
    offset: () => {
      look()
      return serverThen - wallThen
    },
    opened: (clockOffset) => {
      look()
      if (!storageHasTold) serverThen = wallThen + clockOffset
    },
    told: (storageTime) => {
      look()
      serverThen = storageTime
      storageHasTold = true
    },
    sleeps: () => {
      look()
      return sleeps
    },
    monotonic
  }
}

/**
 * The server's time, taken to be ours until a session says otherwise.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<ServerClock> = Effect.map(Effect.clock, by)
