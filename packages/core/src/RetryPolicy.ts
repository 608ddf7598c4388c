/**
 * How often and how soon a request is retried. One policy over typed errors, for the service and for storage; the only
 * place that decides to retry.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Schedule from "effect/Schedule"
import { waitsOf } from "./base/effect.js"
import { atLeastOne } from "./base/number.js"
import * as Metrics from "./Metrics.js"
import type { Recoverable } from "./Recovery.js"
import { isRepeatable } from "./Recovery.js"
import type { RetryBudget } from "./service/retryBudget.js"

/**
 * How often a request is made, and how long the waits in between are. Created by {@link make}.
 *
 * @category models
 */
export interface Policy {
  /**
   * How many times a request is made at most, including the first. A part may be sent twice as often once three parts
   * of its upload are in storage, unless this is 1: from then on the connection is what fails, and not the setup. So may the rest of a
   * download that breaks off.
   */
  readonly attempts: number
  /**
   * The upper limit of the wait before the second attempt; it doubles with each further one. The wait itself is random
   * below it (full jitter).
   */
  readonly base: Duration.Duration
  /** The longest backoff. */
  readonly cap: Duration.Duration
  /**
   * If a server asks to wait longer than this, the request is not retried: the error says how long the server asked
   * for.
   */
  readonly longestRetryAfter: Duration.Duration
  /** The upper limits of the waits, one after another, in the place of `base` and `cap`. Set by {@link fromSchedule}. */
  readonly waits?: ReadonlyArray<Duration.Duration> | undefined
  /**
   * Asked before each attempt of a call, once its turn has come: whether it is still to be made.
   *
   * @internal
   */
  readonly isWanted?: Effect.Effect<boolean>
}

/**
 * What can be changed in the policy. What is omitted defaults to what {@link make} says.
 *
 * @category models
 */
export interface Options {
  readonly attempts?: number | undefined
  readonly base?: Duration.DurationInput | undefined
  readonly cap?: Duration.DurationInput | undefined
  readonly longestRetryAfter?: Duration.DurationInput | undefined
}

/**
 * A policy. Defaults to 5 attempts, backoffs from 500 milliseconds to 30 seconds, and waits of up to 60 seconds if the
 * server asks for them. Attempts below 1 count as 1.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Policy => ({
  attempts: atLeastOne(options.attempts, 5),
  base: Duration.decode(options.base ?? "500 millis"),
  cap: Duration.decode(options.cap ?? "30 seconds"),
  longestRetryAfter: Duration.decode(options.longestRetryAfter ?? "60 seconds")
})

/**
 * The policy in force. It is read when an operation runs, so it can be replaced for a single effect.
 *
 * @category references
 */
export class RetryPolicy extends Context.Reference<RetryPolicy>()<"@stevedore/core/RetryPolicy", Policy>(
  "@stevedore/core/RetryPolicy",
  { defaultValue: () => make() }
) {}

/**
 * Told of each wait before another attempt: what the last one failed with, and how long the wait is. By default, nobody
 * is. It is read when an operation runs, so it can be provided to a single effect.
 *
 * @category references
 */
export class OnWait extends Context.Reference<OnWait>()<
  "@stevedore/core/RetryPolicy/OnWait",
  (error: Recoverable, wait: Duration.Duration) => Effect.Effect<void>
>(
  "@stevedore/core/RetryPolicy/OnWait",
  { defaultValue: () => () => Effect.void }
) {}

/**
 * Replaces the policy, for an application (provided to its layer) or for a single effect. Merged with a ready-made
 * layer, it counts only if it comes after it, because that layer has captured the policy in force.
 *
 * @example
 * import { RetryPolicy, Uploads, UploadSources } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSources.fromBytes("a.txt", new Uint8Array([1]))
 * const patient = Uploads.upload(source).pipe(
 *   Effect.provide(RetryPolicy.layer({ attempts: 8, base: "250 millis", cap: "20 seconds" }))
 * )
 * const once = Uploads.upload(source).pipe(Effect.provide(RetryPolicy.none))
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never> => Layer.succeed(RetryPolicy, make(options))

// more attempts than anybody waits for, of a schedule without an end
const mostWaits = 100

/**
 * The waits between attempts, and so how many there are, by a Schedule of Effect's. The rest of the policy stays: each
 * wait is random below what the schedule says (full jitter), what a server asks for is waited for instead, and the
 * budget of an upload counts. Of a schedule without an end, the first 100 waits count.
 *
 * @example
 * import { RetryPolicy } from "@stevedore/core"
 * import { NodeStevedore } from "@stevedore/node"
 * import { Redacted, Schedule } from "effect"
 *
 * const steady = Schedule.intersect(Schedule.spaced("2 seconds"), Schedule.recurs(5))
 * const stevedore = NodeStevedore.layer({
 *   baseUrl: "https://files.example/api",
 *   token: Redacted.make("api.abc"),
 *   retry: RetryPolicy.fromSchedule(steady)
 * })
 *
 * @category layers
 */
export const fromSchedule = <A>(
  schedule: Schedule.Schedule<A>,
  options: Pick<Options, "longestRetryAfter"> = {}
): Layer.Layer<never> =>
  Layer.effect(
    RetryPolicy,
    Effect.map(waitsOf(schedule, mostWaits), (waits) => ({ ...make(options), attempts: waits.length + 1, waits }))
  )

/**
 * No retries.
 *
 * @category layers
 */
export const none: Layer.Layer<never> = /* #__PURE__ */ layer({ attempts: 1 })

/**
 * The longest backoff after an attempt, counted from 1, without jitter.
 *
 * @internal
 */
export const longestBackOff = (policy: Policy, attempt: number): Duration.Duration =>
  policy.waits?.[attempt - 1] ?? policy.waits?.at(-1) ?? Duration.millis(
    Math.min(Duration.toMillis(policy.base) * 2 ** Math.min(attempt - 1, 30), Duration.toMillis(policy.cap))
  )

/**
 * How long to wait after a failed attempt: exactly as long as the server asks, otherwise a random time below the
 * backoff.
 *
 * @internal
 */
export const wait = (policy: Policy, error: Recoverable): Effect.Effect<Duration.Duration> =>
  error.retryAfter === undefined
    // whole milliseconds: no timer is more precise, and the test clock cannot represent fractions in nanoseconds
    ? Effect.map(
      Random.next,
      (random) => Duration.millis(Math.round(random * Duration.toMillis(longestBackOff(policy, error.attempts))))
    )
    : Effect.succeed(error.retryAfter)

/**
 * Whether the policy retries the request after this error. `failures`: see `Recovery.isRepeatable`.
 *
 * @internal
 */
export const repeats = (policy: Policy, error: Recoverable, failures = error.attempts): boolean =>
  isRepeatable(error, failures) &&
  error.attempts < policy.attempts &&
  (error.retryAfter === undefined || Duration.lessThanOrEqualTo(error.retryAfter, policy.longestRetryAfter))

/**
 * The wait before the next attempt, counted and told to `onRetry`.
 *
 * @internal
 */
export const pause = <E extends Recoverable, E2 = never>(
  policy: Policy,
  error: E,
  onRetry?: (error: E, wait: Duration.Duration) => Effect.Effect<void, E2>
): Effect.Effect<void, E2> =>
  Effect.flatMap(wait(policy, error), (duration) =>
    Effect.all([
      Metrics.countRetry(error.recovery),
      onRetry?.(error, duration) ?? Effect.void,
      Effect.flatMap(OnWait, (told) => told(error, duration)),
      Effect.sleep(duration)
    ], { discard: true }))

/**
 * Retries a request as the policy in force says. The request receives the number of its attempt, from 1, and its error
 * must carry that number.
 *
 * @example
 * import { ConnectionError, RetryPolicy } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const ping = RetryPolicy.retry((attempts) =>
 *   Effect.tryPromise({
 *     try: () => fetch("http://localhost:8080/ping"),
 *     catch: () =>
 *       new ConnectionError.ConnectionFailed({
 *         peer: "service",
 *         origin: "http://localhost:8080",
 *         arrived: "unknown",
 *         attempts
 *       })
 *   })
 * )
 *
 * @category combinators
 */
export const retry = <A, E extends Recoverable, R>(
  request: (attempt: number) => Effect.Effect<A, E, R>,
  options: {
    /** Narrows what is retried, for calls that are not safe to repeat. */
    readonly while?: ((error: E) => boolean) | undefined
    /** Runs before each wait: to log, to count, or to slow down others. If it fails, the request is not retried. */
    readonly onRetry?: ((error: E, wait: Duration.Duration) => Effect.Effect<void, E>) | undefined
    /** Pays for the retries, is refunded by successes, and may allow more attempts than the policy. */
    readonly budget?: RetryBudget | undefined
  } = {}
): Effect.Effect<A, E, R> =>
  Effect.flatMap(RetryPolicy, (policy) => {
    const { budget } = options
    let attempt = 0
    let failuresOfOnce = 0
    const allowed = (): Policy =>
      budget === undefined ? policy : { ...policy, attempts: budget.attempts(policy.attempts) }
    const isRepeated = (error: E): boolean => {
      // an earlier connection reset has not used up the one retry of another failure
      if (error.recovery === "retryOnce") failuresOfOnce += 1
      return repeats(allowed(), error, failuresOfOnce) && (options.while?.(error) ?? true) &&
        (budget?.spend(error) ?? true)
    }
    const once = Effect.map(Effect.suspend(() => request(++attempt)), (value) => {
      budget?.refund(attempt)
      return value
    })
    const repeated: Effect.Effect<A, E, R> = Effect.catchAll(
      once,
      (error) =>
        isRepeated(error) ? Effect.zipRight(pause(policy, error, options.onRetry), repeated) : Effect.fail(error)
    )
    return repeated
  })

export type {
  /**
   * How many retries one client may make in a row.
   *
   * @category models
   */
  RetryBudget
} from "./service/retryBudget.js"
