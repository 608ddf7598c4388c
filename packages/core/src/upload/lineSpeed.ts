import * as Option from "effect/Option"
import type { Speed } from "../errors/feasibility.js"

export interface LineSpeed {
  /** An attempt started, at a time of the monotonic clock in milliseconds. */
  readonly began: (at: number) => void
  /** An attempt ended. */
  readonly ended: (at: number) => void
  /** Bytes were handed to the network. A negative number takes back what a lost attempt had sent. */
  readonly moved: (bytes: number, at: number) => void
  /** Milliseconds during which at least one attempt was running, since the line was last measured anew. */
  readonly busy: (at: number) => number
  /** The same without the time in which nothing moved, to a few seconds: nothing is learnt from that. */
  readonly sending: (at: number) => number
  /** What was measured so far no longer counts. */
  readonly measureAnew: (at: number) => void
  /** None until a second was measured, and during a long interruption. */
  readonly speed: (at: number) => Option.Option<Speed>
}

const bucketMillis = 5000
const bucketsKept = 12
// Bytes that disappear into the buffers of new connections look like speed, but are not.
const bucketsIgnored = 2
// After a longer interruption, only buckets in which the line was idle for a while would be left: it would look slow.
const longestInterruption = bucketsKept - 2

const spread = (buckets: ReadonlyArray<number>): Speed => {
  const rates = buckets.map((bytes) => bytes / (bucketMillis / 1000))
  const likely = Math.max(0, rates.reduce((sum, rate) => sum + rate, 0) / rates.length)
  const variance = rates.reduce((sum, rate) => sum + (rate - likely) ** 2, 0) / rates.length
  const deviation = Math.sqrt(variance)
  return { likely, least: Math.max(likely / 4, likely - deviation), most: Math.max(...rates, 0) }
}

/**
 * The speed of the network over the last minute in which it was used. It is measured anew after an interruption of
 * almost as long.
 */
export const make = (): LineSpeed => {
  let under = 0
  let busyBefore = 0
  let busySince = 0
  let total = 0
  let current = 0
  let moving = 0
  let bucketsMoving = 1
  const buckets: Array<number> = [0]

  const busy = (at: number) => busyBefore + (under > 0 ? Math.max(0, at - busySince) : 0)

  const turnTo = (at: number) => {
    const index = Math.floor(busy(at) / bucketMillis)
    const skipped = Math.min(index - current, bucketsKept + 1)
    for (let step = 0; step < skipped; step++) buckets.push(0)
    buckets.splice(0, Math.max(0, buckets.length - bucketsKept - 1))
    current = index
  }

  const isInterrupted = () => current - moving > longestInterruption

  const measureAnew = (at: number) => {
    busyBefore = 0
    busySince = at
    total = 0
    current = 0
    moving = 0
    bucketsMoving = 1
    buckets.splice(0, buckets.length, 0)
  }

  return {
    began: (at) => {
      if (under === 0) busySince = at
      under += 1
    },
    ended: (at) => {
      turnTo(at)
      const busyNow = busy(at)
      under -= 1
      busyBefore = busyNow
      busySince = at
    },
    moved: (bytes, at) => {
      turnTo(at)
      if (bytes > 0) {
        if (isInterrupted()) measureAnew(at)
        if (moving !== current) bucketsMoving += 1
        moving = current
      }
      total += bytes
      buckets[buckets.length - 1] = (buckets.at(-1) ?? 0) + bytes
    },
    measureAnew,
    busy,
    sending: (at) => Math.min(busy(at), bucketsMoving * bucketMillis),
    speed: (at) => {
      turnTo(at)
      if (isInterrupted()) return Option.none()
      const complete = buckets.slice(0, -1)
      const settled = complete.slice(Math.max(0, bucketsIgnored - (current - complete.length)))
      if (settled.length >= 2) return Option.some(spread(settled))
      const seconds = busy(at) / 1000
      if (seconds < 1) return Option.none()
      const likely = Math.max(0, total) / seconds
      return Option.some({ likely, least: likely / 2, most: likely * 2 })
    }
  }
}
