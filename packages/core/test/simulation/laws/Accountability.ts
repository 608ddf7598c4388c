import type { Life, Run } from "../History.js"
import type { Trial } from "./Trial.js"
import { isBefore, isPut } from "./Trial.js"

/** What a write into the ledger takes, when an interruption meets one. */
const aMomentMillis = 50

const judgeEnd = (trial: Trial, run: Run): void => {
  const life = trial.history.lives[run.life - 1]
  const { interrupted, outcome, settled } = run
  if (life?.ended?.by === "end") {
    trial.check(8, settled !== undefined || interrupted !== undefined, () => `${run.name} never settles`)
  }
  if (interrupted !== undefined && settled !== undefined) {
    // by time: a sleep that begins in the moment of the interruption may stand a step before it
    const asleep = trial.history.jumps.filter((jump) =>
      jump.slept && jump.at >= interrupted.at && isBefore(jump, settled)
    )
    const millis = settled.at - interrupted.at - asleep.reduce((sum, jump) => sum + jump.millis, 0)
    trial.check(8, millis <= aMomentMillis, () => `${run.name} settles ${millis} ms after its interruption`)
  }
  trial.check(1, outcome?._tag !== "Died", () => outcome?._tag === "Died" ? outcome.cause : "")
  trial.check(
    8,
    outcome?._tag !== "Interrupted" || interrupted !== undefined,
    () => `${run.name} is interrupted, and nobody did it`
  )
}

const judgeLife = (trial: Trial, { hangs, left, number }: Life): void => {
  trial.check(8, hangs === undefined, () => `life ${number}: ${hangs}`)
  if (left === undefined || hangs !== undefined) return
  for (const [what, count] of Object.entries(left)) {
    trial.check(8, count === 0, () => `life ${number} leaves ${count} ${what}`)
  }
}

// What a part held is let go of when it fails for good: from then on the counts here are too high
const firstGivenUp = (trial: Trial, life: number, name: string): number => {
  const puts = trial.history.exchanges.filter((one) => one.life === life && one.name === name && isPut(one))
  const last = new Map(puts.map((one) => [one.url, one]))
  return Math.min(
    ...[...last.values()].flatMap(({ ended, told }) =>
      told?.etag === undefined && (ended?.by === "answer" || ended?.by === "break") ? [ended.step] : []
    )
  )
}

const judgeMemory = (trial: Trial): void => {
  if (trial.history.troubles.has("call: wrong number of URLs")) return
  for (const { bytes, life, name, step } of trial.history.held) {
    const source = trial.caseOf(name)
    if (source === undefined || bytes <= trial.scenario.maxBufferedBytes) continue
    if (step > firstGivenUp(trial, life, name)) continue
    const largestPart = Math.max(
      0,
      ...trial.sessionsOf(name).map(({ parts, size }) => Math.ceil(size / parts) + parts)
    )
    const most = Math.max(trial.scenario.maxBufferedBytes, largestPart) + 2 * source.chunk
    trial.check(11, bytes <= most, () => `${bytes} bytes of ${name} are held, and ${most} are allowed`)
  }
}

/** Uploads end, leave nothing, and hold little: the laws eight and eleven. */
export const accountability = (trial: Trial): void => {
  for (const run of trial.history.runs) judgeEnd(trial, run)
  for (const life of trial.history.lives) judgeLife(trial, life)
  judgeMemory(trial)
}
