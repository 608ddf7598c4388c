import * as Duration from "effect/Duration"

const units = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]] as const

// to the millisecond: on 4, a page loads the function of Effect for nothing else
export const spelled: (duration: Duration.Duration) => string = (duration) => {
  let left = Math.round(Duration.toMillis(duration))
  if (!Number.isFinite(left)) return "Infinity"
  const parts = units.flatMap(([unit, millis]) => {
    const count = Math.floor(left / millis)
    left -= count * millis
    return count === 0 ? [] : [`${count}${unit}`]
  })
  return parts.length === 0 ? "0" : parts.join(" ")
}
