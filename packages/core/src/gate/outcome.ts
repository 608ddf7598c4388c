import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as RetryPolicy from "../RetryPolicy.js"
import type { Outcome } from "./congestion.js"

const errorOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.failureOption(exit.cause))

const asksToSlowDown = (error: unknown): boolean =>
  Predicate.hasProperty(error, "recovery") && error.recovery === "slowDown"

const isUnconnected = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "arrived") && error.arrived === "no") ||
  (Predicate.hasProperty(error, "phase") && error.phase === "connect")

export const outcomeOf = (exit: Exit.Exit<unknown, unknown>, bytes: number): Outcome => {
  if (Exit.isSuccess(exit)) return { _tag: "Confirmed", bytes }
  const error = errorOf(exit)
  if (isUnconnected(error)) return { _tag: "Unconnected" }
  if (Predicate.isTagged(error, "TimedOut")) return { _tag: "TimedOut" }
  return asksToSlowDown(error) ? { _tag: "SlowDown" } : { _tag: "Other" }
}

/**
 * How many milliseconds no transfer may start after this one. The last attempt of a transfer is not followed by a wait of its own,
 * but others must not start before the time that storage named. Never longer than a transfer waits for its own retry.
 */
export const pauseAfter = (
  exit: Exit.Exit<unknown, unknown>,
  shortest: Duration.Duration
): Effect.Effect<number> =>
  Effect.map(RetryPolicy.RetryPolicy, ({ longestRetryAfter }) => {
    const error = errorOf(exit)
    if (!asksToSlowDown(error)) return 0
    const named = Predicate.hasProperty(error, "retryAfter") && Duration.isDuration(error.retryAfter)
      ? Duration.toMillis(error.retryAfter)
      : 0
    return Math.max(Math.min(named, Duration.toMillis(longestRetryAfter)), Duration.toMillis(shortest))
  })
