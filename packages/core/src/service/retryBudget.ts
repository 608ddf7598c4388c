/** How many retries one client may make in a row: when everything fails, retrying everything makes it worse. */
import type { Recoverable } from "../Recovery.js"

/**
 * A budget shared by all calls of a client. A retry costs 5; a success gives back what its last retry cost, or 1 if it
 * needed none. A wait that the service requested costs nothing.
 */
export interface RetryBudget {
  /** Pays for a retry after this error; false if nothing is left, and then the error stands. */
  readonly spend: (error: Recoverable) => boolean
  /** A call has succeeded, at this attempt. */
  readonly refund: (attempt: number) => void
  /** What is left. */
  readonly left: () => number
  /** How many attempts are allowed where the policy allows this many. */
  readonly attempts: (policy: number) => number
}

const cost = 5

const costOf = (error: Recoverable): number =>
  error.retryAfter === undefined && error.recovery !== "slowDown" ? cost : 0

/** A full budget. The capacity defaults to 500, which is 100 retries without a single success. */
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

/** How many attempts are allowed where the policy allows this many, and only the connection can be what fails. */
export const patient = (attempts: number): number => attempts === 1 ? 1 : 2 * attempts

/** Once this many parts are in storage, the setup is right, and what fails is the connection. */
const firstParts = 3

/**
 * A budget for the parts of one upload. It is strict until three of them are in storage, because the setup may be
 * wrong, and patient from then on. A part may then be tried twice as often as the policy allows, unless the policy
 * allows no retries at all. If all parts in flight fail at once, as without a network, the budget lasts for every
 * attempt of each.
 */
export const forUpload = (upload: {
  /** How many attempts the policy allows for a part. */
  readonly attempts: number
  /** The maximum number of parts in flight at once. */
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
    attempts: (policy) => confirmed < firstParts ? policy : patient(policy)
  }
}
