import type { Life, Taking } from "../History.js"
import type { Trial } from "./Trial.js"
import { isBefore, isComplete } from "./Trial.js"

// What a life may have sent before it lost the lock is sent again as it was: whoever has the lock has resolved it
const judgeComplete = (trial: Trial, loser: Life, taking: Taking): void => {
  const recorded = trial.history.entries.filter(({ key }) => key.startsWith(`${taking.id}/`))
  const begun = new Set<string>()
  for (const { fileId = "", life, started } of trial.history.exchanges.filter(isComplete)) {
    if (life !== loser.number) continue
    if (!recorded.some(({ key }) => key.startsWith(`${taking.id}/${fileId}-`))) continue
    trial.check(
      13,
      begun.has(fileId) || isBefore(started, taking),
      () => `life ${life} completes an upload that life ${taking.life} has taken over`
    )
    begun.add(fileId)
  }
}

const judgeLoser = (trial: Trial, loser: Life, taking: Taking): void => {
  for (const entry of trial.history.entries) {
    trial.check(
      13,
      entry.life !== loser.number || isBefore(entry, taking) || !entry.key.startsWith(`${taking.id}/`),
      () => `life ${loser.number} writes ${entry.key} after life ${taking.life} has taken the lock`
    )
  }
  judgeComplete(trial, loser, taking)
}

/** Who may change what is recorded: the thirteenth law. */
export const ownership = (trial: Trial): void => {
  const { lives, locks } = trial.history
  for (const life of lives) {
    if (life.frozen === undefined) continue
    const had = new Set(locks.filter((one) => one.life === life.number).map(({ id }) => id))
    for (const id of had) {
      const taking = locks.find((one) => one.id === id && one.life > life.number)
      if (taking !== undefined && (life.ended === undefined || isBefore(taking, life.ended))) {
        judgeLoser(trial, life, taking)
      }
    }
  }
}
