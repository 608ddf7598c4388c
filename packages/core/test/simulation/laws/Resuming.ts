import type { Exchange, Remembered, Run, Version } from "../History.js"
import type { Trial } from "./Trial.js"
import { isBefore, isComplete, isInitiate, isPut } from "./Trial.js"

const minute = 60_000

const isSame = (versions: ReadonlyArray<Version>): boolean => versions.length === 1

// The engine can go on, as far as the world knows
const canGoOn = (trial: Trial, run: Run, found: Remembered): boolean =>
  run.options.resume !== false && found.phase === "uploading" && found.hasUrls && trial.knowsTheTime &&
  trial.scenario.skew === 0 && trial.scenario.fullDisk === 0 && found.deadline !== undefined &&
  run.started.at + 10 * minute < found.deadline && isSame(trial.history.versions.get(run.name) ?? []) &&
  trial.caseOf(run.name)?.kind !== "stream" && trial.caseOf(run.name)?.kind !== "stream once"

const judgeResumed = (trial: Trial, run: Run, found: Remembered, exchanges: ReadonlyArray<Exchange>): void => {
  const [first] = exchanges
  trial.check(12, first === undefined || !isInitiate(first), () => `${run.name} begins anew and could go on`)
  for (const exchange of exchanges) {
    if (!isPut(exchange) || exchange.fileId !== found.fileId || exchange.part === undefined) continue
    const completed = exchanges.some((one) => isComplete(one) && isBefore(one.started, exchange.started))
    trial.check(
      12,
      completed || !found.receipts.has(exchange.part),
      () => `part ${exchange.part} is sent again, and storage had confirmed it`
    )
  }
  const complete = exchanges.find((one) => isComplete(one) && one.fileId === found.fileId)
  if (complete === undefined || found.receipts.size === 0 || trial.caseOf(run.name)?.kind !== "file") return
  trial.check(
    12,
    trial.history.reads.some((read) =>
      read.life === run.life && read.name === run.name && isBefore(read, complete.started)
    ),
    () => `${run.name} is completed and nobody looked whether it is the same`
  )
}

const judgeOther = (trial: Trial, run: Run, found: Remembered, exchanges: ReadonlyArray<Exchange>): void => {
  if (found.phase !== "uploading" || trial.caseOf(run.name)?.kind !== "file") return
  const versions = trial.history.versions.get(run.name) ?? []
  const opened = trial.history.sessions.get(found.fileId)?.opened
  const changed = versions.some((version, index) =>
    index > 0 && version.isVisible && opened !== undefined && isBefore(opened, version) &&
    isBefore(version, run.started)
  )
  trial.check(
    12,
    !changed || !exchanges.some((one) => one.fileId === found.fileId && (isPut(one) || isComplete(one))),
    () => `${run.name} has changed, and its earlier session goes on`
  )
}

/** What a restart does: the twelfth law. */
export const resuming = (trial: Trial): void => {
  for (const run of trial.history.runs) {
    const found = trial.history.lives[run.life - 1]?.remembered.find(({ name }) => name === run.name)
    const exchanges = trial.exchangesOf(run)
    if (found === undefined || exchanges === undefined) continue
    if (canGoOn(trial, run, found)) judgeResumed(trial, run, found, exchanges)
    judgeOther(trial, run, found, exchanges)
  }
}
