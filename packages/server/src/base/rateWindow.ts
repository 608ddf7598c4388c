/** The service's rate limit: a number of requests per window, across all clients. */

/**
 * What a request is told: whether it may pass, and the headers that say so. Times are in milliseconds of the Unix
 * epoch.
 *
 * @category models
 */
export interface Admission {
  readonly admitted: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Whole seconds until the window ends. */
  readonly retryAfter: number
}

/**
 * What a request is told that is the `used`th of its window.
 *
 * @category constructors
 */
export const admission = ({ endsAt, limit, now, used }: {
  readonly limit: number
  readonly used: number
  readonly endsAt: number
  readonly now: number
}): Admission => ({
  admitted: used <= limit,
  headers: {
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(Math.max(0, limit - used)),
    "x-ratelimit-reset": String(Math.ceil(endsAt / 1000))
  },
  retryAfter: Math.max(1, Math.ceil((endsAt - now) / 1000))
})

/**
 * Makes the limiter. A window starts with the first request after the previous one has ended.
 *
 * @category constructors
 */
export const make = (
  options: { readonly limit: number; readonly windowMillis: number }
): (now: number) => Admission => {
  let ends = Number.NEGATIVE_INFINITY
  let used = 0
  return (now) => {
    if (now >= ends) {
      ends = now + options.windowMillis
      used = 0
    }
    used += 1
    return admission({ limit: options.limit, used, endsAt: ends, now })
  }
}
