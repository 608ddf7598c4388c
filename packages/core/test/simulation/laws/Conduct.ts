import type { Exchange, Life, Run } from "../History.js"
import { signatureMark, token } from "../World.js"
import type { Trial } from "./Trial.js"
import { isBefore, isComplete, isInitiate, isPut } from "./Trial.js"

const isAnswered = ({ told }: Exchange): boolean => told !== undefined

// A service that says something else than the truth is believed
const wasMisled = (exchanges: ReadonlyArray<Exchange>): boolean =>
  exchanges.some(({ operation, told, trouble }) =>
    trouble !== undefined && told !== undefined && told.status >= 400 && told.status < 500 && operation !== "put"
  )

// Nothing more is asked: it is told that nobody knows, or whoever has taken over asks
const mayNotAsk: ReadonlyArray<string> = ["CompletionUnknown", "UploadLocked"]

// The file is there, and this is what nobody could find out, or what was found wrong with it
const mayFailFinalized: ReadonlyArray<string> = [
  ...mayNotAsk,
  "ContentDiffers",
  "ContentUnverified",
  "StoredSizeDiffers"
]

// Who has taken over completes it, and whoever had it need not know
const isByOther = (trial: Trial, run: Run, { fileId }: Exchange): boolean =>
  trial.history.exchanges.some((one) => isComplete(one) && one.fileId === fileId && one.life > run.life)

const judgeCompletion = (trial: Trial, run: Run): void => {
  const exchanges = trial.exchangesOf(run)
  if (exchanges === undefined || run.settled === undefined || wasMisled(exchanges)) return
  for (const complete of exchanges) {
    if (!isComplete(complete)) continue
    const session = trial.history.sessions.get(complete.fileId ?? "")
    const later = exchanges.filter(({ started }) => isBefore(complete.started, started))
    const wasLost = !isAnswered(complete) && complete.ended?.by !== "kill" && complete.arrived !== undefined
    const error = run.outcome?._tag === "Failed" ? run.outcome.error : undefined
    if (wasLost && error !== undefined) {
      // The rate limit may forbid to ask
      trial.check(
        4,
        mayNotAsk.includes(error._tag) || later.some((one) => isComplete(one) || one.operation === "file"),
        () => `${run.name} failed after a Complete without an answer, and nobody asked for the file`
      )
    }
    // the record says that it is of other bytes: sent again, it is another file
    const isDamaged = trial.scenario.reportsChecksum && trial.history.troubles.has("PUT: bytes damaged")
    const finalized = isDamaged || isByOther(trial, run, complete) ? undefined : session?.finalized
    if (finalized !== undefined && isBefore(complete.started, finalized)) {
      trial.check(
        4,
        !later.some((one) => isInitiate(one) && isBefore(finalized, one.started)),
        () => `${run.name} is finalized, and another session is opened`
      )
      trial.check(
        4,
        error === undefined || isBefore(run.settled, finalized) || mayFailFinalized.includes(error._tag),
        () => `${run.name} is finalized, and ends as ${error?._tag}`
      )
    }
    const next = later.find(isComplete)
    if (next !== undefined && !later.some((one) => isPut(one) && isBefore(one.started, next.started))) {
      trial.check(
        4,
        next.fileId !== complete.fileId || JSON.stringify(next.listed) === JSON.stringify(complete.listed),
        () => "Complete is asked again with another list"
      )
    }
  }
}

const forbiddenAtStorage = /^(?:authorization|cookie|traceparent|tracestate|b3|x-b3-.*)$/

const judgeSecrets = (trial: Trial): void => {
  for (const exchange of trial.history.exchanges) {
    trial.check(5, exchange.operation !== "other", () => "something is asked of somebody who is not asked")
    if (!isPut(exchange)) continue
    for (const [name, value] of Object.entries(exchange.headers)) {
      trial.check(5, !forbiddenAtStorage.test(name), () => `storage is sent the header ${name}`)
      trial.check(5, !value.includes(token), () => `storage is sent the token in ${name}`)
    }
    trial.check(5, !exchange.url.includes(token), () => "storage is sent the token in the URL")
  }
  for (const { text, where } of trial.history.printed) {
    trial.check(5, !text.includes(token), () => `the token stands in the ${where}`)
    trial.check(5, !text.includes(signatureMark), () => `a signature stands in the ${where}`)
  }
}

const mostInStorage = (trial: Trial, run: Run, step: number): number => {
  const parts = new Map<string, Map<number, number>>()
  for (const write of trial.history.writes) {
    if (write.step > step || trial.history.sessions.get(write.fileId)?.name !== run.name) continue
    const lengths = parts.get(write.fileId) ?? new Map<number, number>()
    lengths.set(write.part, Math.max(write.length, lengths.get(write.part) ?? 0))
    parts.set(write.fileId, lengths)
  }
  return Math.max(0, ...[...parts.values()].map((lengths) => [...lengths.values()].reduce((sum, one) => sum + one, 0)))
}

const judgeProgress = (trial: Trial, run: Run): void => {
  let confirmed = 0
  for (const look of run.looks) {
    trial.check(6, look.confirmed >= confirmed, () => `confirmed falls from ${confirmed} to ${look.confirmed}`)
    trial.check(6, look.confirmed <= look.size, () => `${look.confirmed} of ${look.size} bytes are confirmed`)
    trial.check(6, look.sent <= look.size, () => `${look.sent} of ${look.size} bytes are sent`)
    trial.check(6, look.parts.confirmed <= look.parts.total, () => "more parts are confirmed than there are")
    confirmed = look.confirmed
  }
  const last = run.looks.at(-1)
  if (last === undefined) return
  trial.check(
    6,
    last.confirmed <= mostInStorage(trial, run, last.step),
    () => `${last.confirmed} bytes are confirmed, and storage never had as many`
  )
  // The last look of a process that is killed may come before the end of its uploads
  if (run.outcome?._tag === "Uploaded" && run.settled !== undefined && isBefore(run.settled, last)) {
    trial.check(
      6,
      last.confirmed === last.size && last.parts.confirmed === last.parts.total,
      () => `it is up, and ${last.confirmed} of ${last.size} are confirmed`
    )
  }
}

const judgeGate = (trial: Trial, life: Life): void => {
  const puts = trial.history.exchanges.filter((one) => one.life === life.number && isPut(one))
  const changes = puts.flatMap((one) => [
    { step: one.started.step, by: 1 },
    { step: one.ended?.step ?? Number.POSITIVE_INFINITY, by: -1 }
  ]).sort((one, other) => one.step - other.step)
  let inFlight = 0
  let most = 0
  for (const { by } of changes) {
    inFlight += by
    most = Math.max(most, inFlight)
  }
  trial.check(7, most <= trial.scenario.gate, () => `${most} in flight through a gate of ${trial.scenario.gate}`)
}

/** How an upload carries itself while it runs: the laws four to seven. */
export const conduct = (trial: Trial): void => {
  for (const run of trial.history.runs) {
    judgeCompletion(trial, run)
    judgeProgress(trial, run)
  }
  judgeSecrets(trial)
  for (const life of trial.history.lives) judgeGate(trial, life)
}
