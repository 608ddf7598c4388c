import * as Duration from "effect/Duration"
import type * as Fault from "../Fault.js"
import * as FaultRule from "../FaultRule.js"

const units = [["hours", 3_600_000], ["minutes", 60_000], ["seconds", 1000]] as const

/** A duration as `Duration.decode` accepts it, in the largest unit that gives a whole number. */
export const durationWords = (duration: Duration.Duration): string => {
  const millis = Duration.toMillis(duration)
  const unit = millis === 0 ? undefined : units.find(([, size]) => millis % size === 0)
  return JSON.stringify(unit === undefined ? `${millis} millis` : `${millis / unit[1]} ${unit[0]}`)
}

const call = (verb: string, ...values: ReadonlyArray<string | undefined>): string => {
  const last = values.findLastIndex((value) => value !== undefined)
  return `.${verb}(${values.slice(0, last + 1).map(String).join(", ")})`
}

const options = (fields: Readonly<Record<string, string | number | undefined>>): string | undefined => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? undefined
    : `{ ${given.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ")} }`
}

const answer = (target: FaultRule.Target, { code, retryAfter, status }: Fault.Answer): string =>
  code === undefined && retryAfter !== undefined && status === (FaultRule.isAtStorage(target) ? 503 : 429)
    ? call("retryAfter", JSON.stringify(retryAfter))
    : call("answer", String(status), code === undefined ? undefined : JSON.stringify(code), options({ retryAfter }))

const verb = (target: FaultRule.Target, fault: Fault.Fault): string => {
  switch (fault._tag) {
    case "Answer":
      return answer(target, fault)
    case "Html":
      return call("html", String(fault.status))
    case "Reset":
      return fault.afterBytes === undefined ? call("reset") : call("resetAfter", String(fault.afterBytes))
    case "Stall":
      return call("stall", JSON.stringify(fault.phase), options({ afterBytes: fault.afterBytes }))
    case "Delay":
    case "SlowDown":
    case "LandLate":
      return call(`${fault._tag.charAt(0).toLowerCase()}${fault._tag.slice(1)}`, durationWords(fault.duration))
    case "ShortPage":
      return call("shortPage", String(fault.items))
    default:
      return call(`${fault._tag.charAt(0).toLowerCase()}${fault._tag.slice(1)}`)
  }
}

/** A rule as it is written in a program, from `FaultScript.on` to the fault. */
export const ofRule = (rule: FaultRule.Rule): string =>
  [
    `FaultScript.on(${JSON.stringify(rule.target)})`,
    rule.part === undefined ? "" : call("part", String(rule.part)),
    rule.skip === 0 ? "" : call("after", String(rule.skip)),
    rule.times === null ? call("always") : rule.times === 1 ? "" : call("times", String(rule.times)),
    verb(rule.target, rule.fault)
  ].join("")
