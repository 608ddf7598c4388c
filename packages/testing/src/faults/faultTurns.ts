import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Exchange from "../Exchange.js"
import * as FaultRule from "../FaultRule.js"

interface Turns {
  readonly rule: FaultRule.Rule
  skip: number
  left: number
  /** When the storm of a `SlowDown` ends. */
  stormUntil: number
}

const begin = (rule: FaultRule.Rule): Turns => ({
  rule,
  skip: rule.skip,
  left: rule.times ?? Number.POSITIVE_INFINITY,
  stormUntil: Number.NEGATIVE_INFINITY
})

const takes = (turns: Turns, now: number): boolean => {
  if (now < turns.stormUntil) {
    return true
  }
  if (turns.left === 0) {
    return false
  }
  if (turns.skip > 0) {
    turns.skip -= 1
    return false
  }
  turns.left -= 1
  if (turns.rule.fault._tag === "SlowDown") {
    turns.stormUntil = now + Duration.toMillis(turns.rule.fault.duration)
  }
  return true
}

/** An interceptor that counts the turns of its rules from now on. */
export const make = (rules: ReadonlyArray<FaultRule.Rule>): Effect.Effect<Exchange.Interceptor> =>
  Effect.sync(() => {
    const all = rules.map(begin)
    return (exchange) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        for (const turns of all) {
          if (FaultRule.isAbout(turns.rule, exchange) && takes(turns, now)) {
            return Option.some(turns.rule.fault)
          }
        }
        return Option.none()
      })
  })
