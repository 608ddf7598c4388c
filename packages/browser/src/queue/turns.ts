import type { Entry } from "./entry.js"
import { goesOn, isQueued } from "./entry.js"

const leftOf = ({ item }: Entry): number => item.size - item.confirmed

/** At most 5 MB left: they are sent in seconds, whatever is sent beside them. */
const isShort = (entry: Entry): boolean => leftOf(entry) <= 5e6

/**
 * Takes the entry whose turn it is: that with the fewest bytes left. Where all places are taken by long ones, there is
 * one more for a short one. Each time that a later one goes first, an entry counts half: none is passed without end.
 */
export const take = (all: ReadonlyArray<Entry>, places: number): Entry | undefined => {
  const going = all.filter(goesOn)
  const isFree = going.length < places
  if (!isFree && (going.length > places || going.some(isShort))) return undefined
  let taken: Entry | undefined
  for (const entry of all) {
    if (!isQueued(entry) || !isFree && !isShort(entry)) continue
    if (taken === undefined || leftOf(entry) * entry.share < leftOf(taken) * taken.share) taken = entry
  }
  for (const entry of all) {
    if (entry === taken) break
    if (taken !== undefined && isQueued(entry)) entry.share /= 2
  }
  return taken
}
