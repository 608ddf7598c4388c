/** How long an upload takes, by its bytes and by the calls that the service allows. */
import type * as RateLimit from "@stevedore/core/RateLimit"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** What the service allows: so many calls in each window. */
export interface Rule {
  readonly calls: number
  readonly window: Duration.Duration
}

/**
 * The rule that a profile states, or else the one that the service's headers announce. A window whose length is not known
 * counts as a minute.
 */
export const ruleOf = (
  profile: { readonly rateLimit?: { readonly requests: number; readonly windowSeconds: number } | undefined },
  status: Option.Option<RateLimit.Status>
): Option.Option<Rule> => {
  const window = Duration.seconds(profile.rateLimit?.windowSeconds ?? 60)
  return Option.orElse(
    Option.map(status, ({ limit }) => ({ calls: limit, window })),
    () => Option.map(Option.fromNullable(profile.rateLimit), ({ requests }) => ({ calls: requests, window }))
  )
}

/** How long so many calls take. */
export const ofCalls = (calls: number, rule: Rule): Duration.Duration => Duration.times(rule.window, calls / rule.calls)

/** How long so many calls take from now on: those that are still allowed cost nothing, and the others wait. */
export const ofCallsFrom = (
  calls: number,
  rule: Rule,
  status: Option.Option<RateLimit.Status>,
  now: number
): Duration.Duration => {
  const { remaining, resetsAt } = Option.getOrElse(
    status,
    (): RateLimit.Status => ({ limit: rule.calls, remaining: rule.calls, resetsAt: undefined })
  )
  const later = calls - remaining
  if (later <= 0) return Duration.zero
  const untilReset = resetsAt === undefined ? rule.window : Duration.millis(Math.max(0, resetsAt - now))
  return Duration.sum(untilReset, Duration.times(rule.window, Math.max(0, later / rule.calls - 1)))
}

/** The time left, and whether the bytes or the calls take it. */
export interface Remaining {
  readonly time: Duration.Duration
  readonly by: "bytes" | "calls"
}

/** The longer of the two. */
export const left = (
  bytes: Option.Option<Duration.Duration>,
  calls: Option.Option<Duration.Duration>
): Option.Option<Remaining> => {
  const isLonger = Option.exists(
    calls,
    (time) => Option.isNone(bytes) ? Duration.toMillis(time) > 0 : Duration.greaterThan(time, bytes.value)
  )
  return isLonger
    ? Option.map(calls, (time) => ({ time, by: "calls" }))
    : Option.map(bytes, (time) => ({ time, by: "bytes" }))
}
