import type { Life, Moment, Taking } from "../History.js"
import type { Trial } from "./Trial.js"
import { isBefore, isComplete } from "./Trial.js"

/** A lock that a life had, until another took it. */
interface Loss {
  readonly loser: Life
  readonly taking: Taking
  /** It was free again, and the loser had let go of what it had lost. */
  readonly regained: Moment | undefined
}

const lossesOf = (trial: Trial, loser: Life): ReadonlyArray<Loss> => {
  const { frozen, number } = loser
  if (frozen === undefined) return []
  const { locks } = trial.history
  const had = new Set(locks.filter((one) => one.life === number && isBefore(one, frozen)).map(({ id }) => id))
  return [...had].flatMap((id) => {
    const taking = locks.find((one) => one.id === id && one.life !== number && isBefore(frozen, one))
    if (taking === undefined) return []
    return [{
      loser,
      taking,
      regained: locks.find((one) => one.id === id && one.life === number && isBefore(taking, one))
    }]
  })
}

const isDuring = ({ regained, taking }: Loss, moment: Moment): boolean =>
  isBefore(taking, moment) && (regained === undefined || isBefore(moment, regained))

const judgeEntries = (trial: Trial, loss: Loss): void => {
  const { loser, taking } = loss
  for (const entry of trial.history.entries) {
    if (entry.life !== loser.number || !entry.key.startsWith(`${taking.id}/`)) continue
    trial.check(
      13,
      !isDuring(loss, entry),
      () => `life ${loser.number} writes ${entry.key} after life ${taking.life} has taken the lock`
    )
  }
}

// What was recorded or sent before the loss may be sent as it was: whoever has the lock sends nothing else for it
const judgeCompletes = (trial: Trial, loss: Loss): void => {
  const { loser, taking } = loss
  const found = trial.history.lives[taking.life - 1]?.remembered ?? []
  const begun = new Set(
    found.flatMap(({ fileId, id, phase }) => id === taking.id && phase === "completing" ? [fileId] : [])
  )
  for (const { fileId = "", life, started } of trial.history.exchanges.filter(isComplete)) {
    const isTaken = trial.history.entries.some(({ key }) => key.startsWith(`${taking.id}/${fileId}-`))
    if (life !== loser.number || !isTaken) continue
    trial.check(
      13,
      begun.has(fileId) || !isDuring(loss, started),
      () => `life ${life} completes an upload that life ${taking.life} has taken over`
    )
    begun.add(fileId)
  }
}

/** Who may change what is recorded: the thirteenth law. */
export const ownership = (trial: Trial): void => {
  for (const loss of trial.history.lives.flatMap((life) => lossesOf(trial, life))) {
    judgeEntries(trial, loss)
    judgeCompletes(trial, loss)
  }
}
