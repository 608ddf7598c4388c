/**
 * The service's rate limit: a number of requests per window, across all clients.
 *
 * @since 0.1.0
 */

/**
 * What a request is told: whether it may pass, and the headers that say so. Times are in milliseconds of the Unix
 * epoch.
 *
 * @since 0.1.0
 * @category models
 */
export interface Admission {
  readonly admitted: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Whole seconds until the window ends. */
  readonly retryAfter: number
}

/**
 * Makes the limiter. A window starts with the first request after the previous one has ended.
 *
 * @since 0.1.0
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
    const admitted = used < options.limit
    used += admitted ? 1 : 0
    return {
      admitted,
      headers: {
        "x-ratelimit-limit": String(options.limit),
        "x-ratelimit-remaining": String(options.limit - used),
        "x-ratelimit-reset": String(Math.ceil(ends / 1000))
      },
      retryAfter: Math.ceil((ends - now) / 1000)
    }
  }
}
