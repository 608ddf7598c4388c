/**
 * Watches one attempt to put bytes: it ends when nothing moves any more, and when the computer has slept.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Option from "effect/Option"
import { TimedOut } from "./ConnectionError.js"
import type { AttemptTimers } from "./internal/attemptTimers.js"
import type { ServerClock } from "./ServerClock.js"

/** The slowest line that is served, in bytes a second: a chunk may take this long to leave, unseen, from a buffer. */
const slowestLine = 32_768

/** How often an attempt is looked at, beside its timers. */
const lookMillis = 5000

/**
 * What is watched.
 *
 * @since 0.1.0
 * @category models
 */
export interface Watch<A, E, E2> {
  readonly put: (onSent: (bytes: number) => void) => Effect.Effect<A, E>
  /** In bytes. */
  readonly length: number
  /** Which attempt it is, from 1. */
  readonly attempts: number
  readonly serverClock: ServerClock
  /** How long nothing may happen in each phase, and what learns from how long it took, or from that it took too long. */
  readonly timers: AttemptTimers
  /** Runs every five seconds while the attempt is under way; its failure ends the attempt. */
  readonly look: Effect.Effect<void, E2>
  /** Takes what drops the attempt without a failure, to be called whenever it shall be; gives what takes it back. */
  readonly onCut: (cut: () => void) => () => void
}

// As an exit: of a fiber that fails, Effect's log says that its error is unhandled.
const started = <A, E>(runner: Effect.Effect<A, E>) => Effect.fork(Effect.exit(Effect.interruptible(runner)))

// A race of three, by hand: those of Effect take two fibers and a hundred steps for each two, for every part. Who loses can
// be interrupted wherever this runs: an upload that may not be is not to wait for its timer.
const firstOf = <A, E>(
  put: Effect.Effect<Option.Option<A>, E>,
  timer: Effect.Effect<Option.Option<never>, E>,
  onCut: (cut: () => void) => () => void
): Effect.Effect<Option.Option<A>, E> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      started(put),
      (putting) =>
        Effect.flatMap(started(timer), (timing) => {
          let forget = () => {}
          return restore(Effect.async<Option.Option<A>, E>((resume) => {
            putting.addObserver((ended) => resume(Effect.flatten(ended)))
            timing.addObserver((ended) => resume(Effect.flatten(ended)))
            forget = onCut(() => resume(Effect.succeedNone))
          })).pipe(
            Effect.onExit(() => {
              forget()
              return Effect.zipRight(Fiber.interrupt(timing), Fiber.interrupt(putting))
            })
          )
        })
    )
  )

/**
 * Fails with `TimedOut` when an attempt makes no progress: until its first bytes are taken, while the body is on its
 * way, and from its last byte to the answer, each with a limit of its own. None when it was cut, or the computer slept
 * meanwhile: the connection is dropped, since the other side has long given it up.
 *
 * @since 0.1.0
 * @category timers
 */
export const watched = <A, E, E2>(
  watch: Watch<A, E, E2>
): Effect.Effect<Option.Option<A>, E | E2 | TimedOut> =>
  Effect.suspend(() => {
    const { serverClock: { monotonic, sleeps }, timers } = watch
    const limits = timers.current()
    const sleepsBefore = sleeps()
    const beganAt = monotonic()
    let progressAt = beganAt
    let connect = 0
    let longestGap = 0
    let sent = 0
    let lastChunk = 0

    const current = (): { readonly phase: TimedOut["phase"]; readonly limit: Duration.Duration } => {
      if (sent === 0) return { phase: "connect", limit: limits.connect }
      const leaving = Duration.seconds(lastChunk / slowestLine)
      return sent < watch.length
        ? { phase: "body", limit: Duration.sum(limits.stall, leaving) }
        : { phase: "answer", limit: Duration.sum(limits.answer, leaving) }
    }

    const timer: Effect.Effect<Option.Option<never>, E2 | TimedOut> = Effect.suspend(() => {
      if (sleeps() !== sleepsBefore) return Effect.succeedNone
      const { limit, phase } = current()
      // Whole milliseconds: a rest too small to move the clock would be slept for ever.
      const left = Math.ceil(Duration.toMillis(limit) - (monotonic() - progressAt))
      if (left <= 0) {
        timers.timedOut(phase)
        return Effect.fail(new TimedOut({ peer: "storage", phase, after: limit, attempts: watch.attempts }))
      }
      return Effect.sleep(Duration.millis(Math.min(left, lookMillis))).pipe(
        Effect.zipRight(watch.look),
        Effect.zipRight(timer)
      )
    })

    const put = watch.put((bytes) => {
      const at = monotonic()
      if (sent === 0) connect = at - beganAt
      else longestGap = Math.max(longestGap, at - progressAt)
      sent += bytes
      lastChunk = bytes
      progressAt = at
    })
    const learn = Effect.sync(() => {
      if (sent > 0) timers.observe({ connect, stall: longestGap, answer: monotonic() - progressAt })
    })
    return firstOf<A, E | E2 | TimedOut>(Effect.asSome(Effect.zipLeft(put, learn)), timer, watch.onCut)
  })
