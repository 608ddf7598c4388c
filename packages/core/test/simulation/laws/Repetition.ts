import type { Exchange, Run } from "../History.js"
import type { Trial } from "./Trial.js"
import { isBefore, isInitiate, isPut } from "./Trial.js"

const second = 1000

const judgeUrls = (trial: Trial): void => {
  const refused = new Map<string, Exchange>()
  for (const exchange of trial.history.exchanges) {
    if (!isPut(exchange)) continue
    const key = `${trial.turnOf(exchange)} ${exchange.url}`
    const last = refused.get(key)
    trial.check(
      9,
      last?.told === undefined || !isBefore(last.told, exchange.started),
      () => `part ${exchange.part} is sent again after ${last?.told?.kind}`
    )
    const meaning = exchange.told?.meaning
    if (meaning === "newSession" || meaning === "never") refused.set(key, exchange)
    const deadline = trial.history.sessions.get(exchange.fileId ?? "")?.deadline
    if (deadline !== undefined && trial.knowsTheTime) {
      trial.check(
        9,
        exchange.started.at < deadline + 2 * second,
        () => `part ${exchange.part} is sent to a URL that has ended`
      )
    }
  }
}

// A session that nobody fills costs nothing and ends by itself, so only what cannot change stands in the way
const isFinal = ({ told }: Exchange): boolean =>
  told !== undefined && told.status >= 300 && told.status < 500 && told.status !== 409 && told.status !== 429

const defaultSessions = 3

const isRefused = ({ told }: Exchange): boolean => told !== undefined && told.status >= 400 && told.status < 500

const isBroken = ({ told }: Exchange): boolean => told !== undefined && told.status >= 500

// One that the service may have carried out, and that gave the client no session: nothing was opened by one it refused
const isLostOpening = (opening: Exchange): boolean =>
  opening.arrived !== undefined && opening.told?.status !== 201 && !isRefused(opening) && !isBroken(opening)

const defaultAttempts = 5

const attemptsOf = ({ scenario: { policy } }: Trial): number => policy.attempts ?? defaultAttempts

const judgeOpenings = (trial: Trial, run: Run): void => {
  const most = run.options.maxSessions ?? defaultSessions
  const attempts = attemptsOf(trial)
  let lost = 0
  let broken = 0
  let refused = 0
  for (const exchange of trial.exchangesOf(run)?.filter(isInitiate) ?? []) {
    if (exchange.told?.status === 201) {
      lost = 0
      broken = 0
      refused = 0
    } else if (exchange.told?.status === 409) {
      // It ended a session that never was, and the next one may be opened as often
      refused++
      lost = 0
      broken = 0
    } else if (isLostOpening(exchange)) lost++
    else if (isBroken(exchange)) broken++
    trial.check(9, lost <= most, () => `${run.name} opens ${lost} sessions in vain, and ${most} are allowed`)
    trial.check(9, broken <= attempts, () => `${run.name} fails to open ${broken} times where ${attempts} are allowed`)
    trial.check(9, refused <= most, () => `${run.name} is refused ${refused} sessions, and ${most} are allowed`)
  }
}

const judgeInitiates = (trial: Trial, run: Run): void => {
  const initiates = trial.exchangesOf(run)?.filter(isInitiate) ?? []
  for (const [index, next] of initiates.entries()) {
    const last = initiates[index - 1]
    trial.check(
      9,
      last === undefined || !isFinal(last),
      () => `${next.operation} is made again after ${last?.told?.kind ?? last?.broke?.code ?? "no answer"}`
    )
  }
}

const judgeAmount = (trial: Trial): void => {
  const attempts = attemptsOf(trial)
  const counts = new Map<string, { puts: number; cuts: number }>()
  for (const exchange of trial.history.exchanges) {
    if (!isPut(exchange)) continue
    const key = `${trial.turnOf(exchange)} ${exchange.url}`
    const count = counts.get(key) ?? { puts: 0, cuts: 0 }
    count.puts++
    if (exchange.ended?.by === "client" && (exchange.isCut === true || exchange.told === undefined)) count.cuts++
    counts.set(key, count)
  }
  const pauses = trial.history.runs.filter(({ paused }) => paused !== undefined).length + trial.history.jumps.length
  // Twice as patient after the first parts, once more for a refused Complete
  const most = 2 * (2 * attempts) + pauses
  for (const { puts } of counts.values()) {
    trial.check(10, puts <= most, () => `one part is sent ${puts} times where ${attempts} attempts are allowed`)
  }
}

const longestRetryAfter = 60_000

const judgeSlowDown = (trial: Trial): void => {
  if (trial.history.jumps.length > 0) return
  const puts = trial.history.exchanges.filter(isPut)
  for (const { life, part, told } of puts) {
    if (told?.meaning !== "slowDown") continue
    const wait = Math.min(told.retryAfter ?? 0, longestRetryAfter)
    const next = puts.find((one) => one.life === life && isBefore(told, one.started))
    if (next === undefined) continue
    const others = next.part === part ? "it" : "another part"
    trial.check(
      10,
      next.started.at - told.at >= Math.max(wait, 500) - 1,
      () => `${others} is sent ${Math.round(next.started.at - told.at)} ms after a SlowDown of ${wait} ms`
    )
  }
}

/** What is done again, and how often: the laws nine and ten. */
export const repetition = (trial: Trial): void => {
  judgeUrls(trial)
  for (const run of trial.history.runs) {
    judgeInitiates(trial, run)
    judgeOpenings(trial, run)
  }
  judgeAmount(trial)
  judgeSlowDown(trial)
}
