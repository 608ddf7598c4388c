import type { History } from "./History.js"
import { violations } from "./Laws.js"
import type { Finding, Report } from "./Report.js"
import { run } from "./Simulation.js"

const namesOf = (history: History): ReadonlySet<string> => {
  const names = new Set(history.troubles.keys())
  for (const { outcome } of history.runs) {
    if (outcome?._tag === "Failed") names.add(`outcome: ${outcome.error._tag}`)
    else if (outcome !== undefined) names.add(`outcome: ${outcome._tag}`)
  }
  for (const { remembered } of history.lives) if (remembered.length > 0) names.add("restarted with a ledger")
  const sessions = [...history.sessions.values()]
  if (new Set(sessions.map(({ name }) => name)).size < sessions.length) names.add("a second session")
  if (
    history.exchanges.some(({ fileId, life, operation }) =>
      operation === "put" && (history.sessions.get(fileId ?? "")?.life ?? life) < life
    )
  ) names.add("a session went on after a restart")
  if (history.exchanges.some(({ told }) => told?.meaning === "newSession")) names.add("a URL expired")
  if (history.writes.some(({ late }) => late)) names.add("a write landed late")
  if (history.printed.length > 0) names.add("everything printed")
  return names
}

/** Runs the histories of some seeds, one after the other. */
export const runRange = (range: {
  readonly from: number
  readonly histories: number
  /** Ends with the first breach of this law. */
  readonly until?: number | undefined
}): Report => {
  const met: Record<string, number> = {}
  const findings: Array<Finding> = []
  let histories = 0
  for (let seed = range.from; seed < range.from + range.histories; seed++) {
    const told = run(seed)
    histories++
    for (const name of namesOf(told.history)) met[name] = (met[name] ?? 0) + 1
    for (const violation of violations(told)) findings.push({ seed, ...violation })
    if (findings.some(({ law }) => law === range.until)) break
  }
  return { histories, met, findings }
}
