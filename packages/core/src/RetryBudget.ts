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
  /** How many attempts are allowed where the policy allows so many. */
  readonly attempts: (policy: number) => number
}

const cost = 5

const costOf = (error: Recoverable): number =>
  error.retryAfter === undefined && error.recovery !== "slowDown" ? cost : 0

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
      const price = costOf(error)
      if (price > left) return false
      left -= price
      return true
    },
    refund: (attempt) => {
      left = Math.min(capacity, left + (attempt > 1 ? cost : 1))
    },
    left: () => left,
    attempts: (policy) => policy
  }
}

/** When so many parts are in storage, the set-up is right and what fails is the line. */
const firstParts = 3

/**
 * A budget for the parts of one upload: strict until three of them are in storage, as the set-up may be wrong, and
 * patient from then on. A part may then be tried twice as often as the policy allows, unless that is no repeat at all;
 * and where all parts in flight fail at once, as without a network, the budget lasts for every attempt of each.
 *
 * @example
 * import { RetryBudget, RetryPolicy } from "@stevedore/core"
 *
 * const budget = RetryBudget.forUpload({ attempts: RetryPolicy.make().attempts, concurrency: 32 })
 *
 * @since 0.1.0
 * @category constructors
 */
export const forUpload = (upload: {
  /** What the policy allows for a part. */
  readonly attempts: number
  /** The most parts that are in flight at once. */
  readonly concurrency: number
}): RetryBudget => {
  const budget = make(Math.max(500, cost * 2 * upload.attempts * upload.concurrency))
  let confirmed = 0
  return {
    ...budget,
    refund: (attempt) => {
      confirmed++
      budget.refund(attempt)
    },
    attempts: (policy) => confirmed < firstParts || policy === 1 ? policy : 2 * policy
  }
}
