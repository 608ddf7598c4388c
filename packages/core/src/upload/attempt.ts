/** Watches one PUT attempt. The attempt ends when nothing moves any more, or when the computer has slept. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ServerClock } from "../base/clock.js"
import { untilTimer } from "../base/fibers.js"
import { TimedOut } from "../ConnectionError.js"
import type { Limits } from "../Timeouts.js"

/**
 * The slowest connection that is supported, in bytes per second: a chunk may take this long to leave a buffer, out of
 * our sight.
 */
const slowestLine = 32_768

/** An attempt is checked at least this often, in milliseconds. */
const lookMillis = 5000

/** An attempt that is cut goes on if it ends within this time at its own speed, in milliseconds; at most twice as long. */
const nearlyThrough = 5000

/** The longest time without progress in each phase of a successful attempt, in milliseconds; absent if not observed. */
export interface Sample {
  readonly connect?: number | undefined
  /** The longest gap between two chunks of the body. */
  readonly stall?: number | undefined
  readonly answer?: number | undefined
}

/** The timers of one upload's attempts: they give up as quickly as the connection has proven to be, and no quicker. */
export interface AttemptTimers {
  /** The limits for the next attempt. Those of calls to the service are the ceilings'. */
  readonly current: () => Limits
  /** An attempt succeeded. */
  readonly observe: (sample: Sample) => void
  /** An attempt was given up in this phase: the next attempts have twice the time for it. */
  readonly timedOut: (phase: TimedOut["phase"]) => void
}

/** What to watch. */
export interface Watch<A, E, E2> {
  /**
   * Tells how many bytes it has handed to the network, and when a wait for the bandwidth limit begins and is over: that
   * counts for none of the limits.
   */
  readonly put: (
    onSent: (bytes: number) => void,
    onWait: (waits: boolean) => void
  ) => Effect.Effect<A, E>
  /** In bytes. */
  readonly length: number
  /** Which attempt it is, from 1. */
  readonly attempts: number
  readonly serverClock: ServerClock
  /** How long each phase may go without progress. Learns from how long attempts took, and from timeouts. */
  readonly timers: AttemptTimers
  /** Runs at least every five seconds during the attempt; its failure ends the attempt. */
  readonly look: Effect.Effect<void, E2>
  /**
   * Registers a function that drops the attempt without a failure, to be called at any time: at once, or soon if it has
   * not ended by then although it is nearly through. Returns a function that unregisters it.
   */
  readonly onCut: (cut: () => void) => () => void
}

/**
 * Fails with `TimedOut` when an attempt makes no progress. Each phase has its own limit: until the first bytes are
 * taken, while the body is in transit, and from the last byte to the response. Succeeds with `None` when the attempt
 * was cut, or when the computer slept meanwhile: the connection is then dropped, since the other side has long given it
 * up.
 */
export const watched = <A, E, E2>(
  watch: Watch<A, E, E2>
): Effect.Effect<Option.Option<A>, E | E2 | TimedOut> =>
  Effect.suspend(() => {
    const { serverClock: { fired, monotonic, sleeps }, timers } = watch
    const limits = timers.current()
    const sleepsBefore = sleeps()
    const beganAt = monotonic()
    let progressAt = beganAt
    let connect = 0
    let longestGap = 0
    let sent = 0
    let lastChunk = 0
    let goesOnUntil = Infinity
    let waitsSince: number | undefined

    const isNearlyThrough = (): boolean =>
      sent > 0 && (monotonic() - beganAt) * (watch.length - sent) <= nearlyThrough * sent

    /** The limit is in milliseconds. */
    const current = (): { readonly phase: TimedOut["phase"]; readonly limit: number } => {
      if (sent === 0) return { phase: "connect", limit: Duration.toMillis(limits.connect) }
      const leaving = (lastChunk / slowestLine) * 1000
      return sent < watch.length
        ? { phase: "body", limit: Duration.toMillis(limits.stall) + leaving }
        : { phase: "answer", limit: Duration.toMillis(limits.answer) + leaving }
    }

    // Rounded up to whole milliseconds: a sleep too short to move the clock would repeat forever.
    const waitFor = (limit: number): number =>
      Math.min(Math.ceil(limit - ((waitsSince ?? monotonic()) - progressAt)), lookMillis)

    const timer: Effect.Effect<Option.Option<never>, E2 | TimedOut> = Effect.suspend(() => {
      if (sleeps() !== sleepsBefore || monotonic() >= goesOnUntil) return Effect.succeedNone
      const { limit, phase } = current()
      const wait = waitFor(limit)
      if (wait <= 0) {
        timers.timedOut(phase)
        return Effect.fail(
          new TimedOut({ peer: "storage", phase, after: Duration.millis(Math.ceil(limit)), attempts: watch.attempts })
        )
      }
      return Effect.zipRight(Effect.sleep(wait), woken(monotonic() + wait))
    })
    const woken = (dueAt: number) =>
      Effect.suspend(() => {
        fired(dueAt)
        return Effect.zipRight(watch.look, timer)
      })
    const firstWait = waitFor(current().limit)

    const put = watch.put((bytes) => {
      const at = monotonic()
      if (sent === 0) connect = at - progressAt
      else longestGap = Math.max(longestGap, at - progressAt)
      sent += bytes
      lastChunk = bytes
      progressAt = at
    }, (waits) => {
      const at = monotonic()
      if (waitsSince !== undefined) progressAt += at - waitsSince
      waitsSince = waits ? at : undefined
    })
    const learn = Effect.sync(() => {
      if (sent > 0) timers.observe({ connect, stall: longestGap, answer: monotonic() - progressAt })
    })
    return untilTimer(
      Effect.asSome(Effect.zipLeft(put, learn)),
      Duration.millis(firstWait),
      woken(beganAt + firstWait),
      (cut) =>
        watch.onCut(() => {
          if (isNearlyThrough()) goesOnUntil = monotonic() + nearlyThrough
          else cut(Effect.succeedNone)
        })
    )
  })
