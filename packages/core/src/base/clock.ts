/**
 * The time by which the URLs of a session end, kept on our monotonic clock: what is measured is how long ago they were
 * issued. A clock that is wrong, or is adjusted, be it ours, the service's or storage's, changes nothing. If the wall
 * clock jumps ahead of the monotonic one, or a timer fires minutes late, the computer has slept.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The server's time, as one upload knows it. All times are in milliseconds. */
export interface ServerClock {
  /** The time of the server. */
  readonly now: () => number
  /** The server's time minus our wall clock's. */
  readonly offset: () => number
  /** A session was opened, and the clock of what signed its URLs is this far ahead of our wall clock. */
  readonly opened: (clockOffset: number) => void
  /** How many times the computer was found to have slept. */
  readonly sleeps: () => number
  /** A timer has fired that was due at this time of our monotonic clock. If it is minutes late, the computer has slept. */
  readonly fired: (dueAt: number) => void
  /** Our monotonic clock, to measure durations. */
  readonly monotonic: () => number
}

/**
 * A timer that fires this much too late, in milliseconds, did so because the computer slept: browsers let the timers of a
 * page in the background fire once per minute.
 */
export const longestLateness = 120_000

/** Clock adjustments are smaller than this, so a larger jump means that the computer slept. */
const shortestSleep = 5000

/** Our monotonic clock in milliseconds. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6

/** The server's time kept on one of our clocks, assumed to be equal until a session says otherwise. */
export const by = (clock: Clock.Clock): ServerClock => {
  const monotonic = () => monotonicMillis(clock)
  let wallThen = clock.unsafeCurrentTimeMillis()
  let monotonicThen = monotonic()
  let serverThen = wallThen
  let sleeps = 0
  let awakeSince = monotonicThen

  const look = () => {
    const wall = clock.unsafeCurrentTimeMillis()
    const passed = monotonic() - monotonicThen
    const jumped = wall - wallThen - passed
    const slept = jumped >= shortestSleep
    if (slept) sleeps += 1
    wallThen = wall
    monotonicThen += passed
    // A monotonic clock may stand still while the computer sleeps; the server's clock does not.
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
      serverThen = wallThen + clockOffset
    },
    sleeps: () => {
      look()
      return sleeps
    },
    // On macOS and Windows, Node's monotonic clock does not stand still: both clocks show the same time passed
    fired: (dueAt) => {
      const now = monotonic()
      if (dueAt < awakeSince || now - dueAt < longestLateness) return
      awakeSince = now
      sleeps += 1
    },
    monotonic
  }
}

/** The server's time, assumed to equal ours until a session says otherwise. */
export const make: Effect.Effect<ServerClock> = Effect.map(Effect.clock, by)
