/**
 * How many repeats one client may make in a row: when everything fails, repeating everything makes it worse.
 *
 * @since 0.1.0
 */
import type { Recoverable } from "./Recovery.js"

/**
 * A budget that all calls of a client share. A repeat costs 5, a success gives back what its last repeat cost, or 1
 * where it needed none. A wait that the service asked for costs nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface RetryBudget {
  /** Pays for a repeat after this error; false when there is nothing left, and then the error stands. */
  readonly spend: (error: Recoverable) => boolean
  /** A call has succeeded, at this attempt. */
  readonly refund: (attempt: number) => void
  /** What is left. */
  readonly left: () => number
}

const costOf = (error: Recoverable): number => error.retryAfter === undefined && error.recovery !== "slowDown" ? 5 : 0

/**
 * A full budget. Omitted: 500, which is 100 repeats without a single success.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (capacity = 500): RetryBudget => {
  let left = capacity
  return {
    spend: (error) => {
      const cost = costOf(error)
      if (cost > left) return false
      left -= cost
      return true
    },
    refund: (attempt) => {
      left = Math.min(capacity, left + (attempt > 1 ? 5 : 1))
    },
    left: () => left
  }
}
