import * as Duration from "effect/Duration"
import type { TimedOut } from "../ConnectionError.js"
import type { Limits } from "../Timeouts.js"
import type { AttemptTimers, Sample } from "./attempt.js"

type Timer = keyof Sample

const timers = ["connect", "stall", "answer"] as const satisfies ReadonlyArray<Timer>

const timerOf = (phase: TimedOut["phase"]): Timer | undefined =>
  phase === "connect" || phase === "answer" ? phase : phase === "body" ? "stall" : undefined

// A connection that was quick for a while may still pause briefly
const floors: Readonly<Record<Timer, number>> = { connect: 5000, stall: 10_000, answer: 10_000 }

/** From this many samples on, they say more than the configured timeouts. */
const enough = 3

/** This many successful attempts in a row undo one doubling. */
const calm = 32

/** Mean and deviation of one phase, as TCP keeps them for round trips, and what timeouts have taught. */
interface Estimate {
  readonly samples: number
  readonly mean: number
  readonly deviation: number
  /** The factor from the measured value to the limit. */
  readonly ease: number
  readonly sinceTimeOut: number
}

const unknown: Estimate = { samples: 0, mean: 0, deviation: 0, ease: 1, sinceTimeOut: 0 }

const observed = (estimate: Estimate, millis: number): Estimate => {
  const sinceTimeOut = (estimate.sinceTimeOut + 1) % calm
  const ease = sinceTimeOut === 0 ? Math.max(1, estimate.ease / 2) : estimate.ease
  return estimate.samples === 0
    ? { samples: 1, mean: millis, deviation: millis / 2, ease, sinceTimeOut }
    : {
      samples: estimate.samples + 1,
      mean: estimate.mean + (millis - estimate.mean) / 8,
      deviation: estimate.deviation + (Math.abs(millis - estimate.mean) - estimate.deviation) / 4,
      ease,
      sinceTimeOut
    }
}

const limitOf = (timer: Timer, { deviation, ease, mean, samples }: Estimate, ceiling: number): number =>
  samples < enough ? ceiling : Math.min(ceiling, ease * Math.max(floors[timer], 2 * (mean + 4 * deviation)))

/**
 * Timers that follow the measurements, between a floor and the timeouts in force. Those timeouts apply until three
 * attempts have succeeded. From then on, a limit is twice the mean plus four deviations, and each timeout doubles it,
 * up to the ceiling.
 */
export const make = (ceilings: Limits): AttemptTimers => {
  const estimates: Record<Timer, Estimate> = { connect: unknown, stall: unknown, answer: unknown }
  const millisOf = (timer: Timer): number => limitOf(timer, estimates[timer], Duration.toMillis(ceilings[timer]))
  return {
    current: () => ({
      ...ceilings,
      connect: Duration.millis(millisOf("connect")),
      stall: Duration.millis(millisOf("stall")),
      answer: Duration.millis(millisOf("answer"))
    }),
    observe: (sample) => {
      for (const timer of timers) {
        const millis = sample[timer]
        if (millis !== undefined) estimates[timer] = observed(estimates[timer], millis)
      }
    },
    timedOut: (phase) => {
      const timer = timerOf(phase)
      if (timer === undefined) return
      const isAtCeiling = millisOf(timer) >= Duration.toMillis(ceilings[timer])
      const { ease } = estimates[timer]
      estimates[timer] = { ...estimates[timer], ease: isAtCeiling ? ease : 2 * ease, sinceTimeOut: 0 }
    }
  }
}
