/**
 * One gate for all calls of a token. It lets them pass as the service's rate limit allows, so that the service need not
 * reject any.
 */
import type * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"
import * as ServerClock from "./base/clock.js"
import { spelled } from "./base/effect.js"
import { onExit, untilTimer } from "./base/fibers.js"
import * as RetryPolicy from "./RetryPolicy.js"
import type { Decision } from "./service/rateWindow.js"
import { RateWindow } from "./service/rateWindow.js"
import { RateLimited } from "./ServiceError.js"
import type { ServiceProfile } from "./ServiceProfile.js"

/**
 * What is left of the limit.
 *
 * @category models
 */
export interface Status {
  /** Calls per window. */
  readonly limit: number
  /** Calls that may still be made, not counting those in flight. */
  readonly remaining: number
  /** When the window ends, in milliseconds of our clock; undefined until the service has said so. */
  readonly resetsAt: number | undefined
}

/**
 * What the gate reads of a response.
 *
 * @category models
 */
export interface Answer {
  readonly status: number
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/**
 * The gate. It reads `X-RateLimit-*` (Unix time in seconds or milliseconds), the IETF's `RateLimit` and
 * `RateLimit-Policy` in the form of any draft, and `Retry-After`. Headers that it cannot parse are ignored, and a service
 * that sends none of them is never slowed down.
 *
 * @category models
 */
export interface Service {
  /**
   * Makes a call when the limit allows it, in order of arrival. The call receives a function to pass its response to,
   * which informs all other calls. If the wait would be longer than the retry policy allows, it fails at once with
   * `RateLimited` and the wait.
   */
  readonly pass: <A, E, R>(
    call: (answered: (answer: Answer) => Effect.Effect<void>) => Effect.Effect<A, E, R>,
    asked: { readonly operation: string; readonly attempt: number }
  ) => Effect.Effect<A, E | RateLimited, R>
  /** None if no limit is known. */
  readonly status: Effect.Effect<Option.Option<Status>>
}

/**
 * The gate that calls pass, read where a client is built and again where a call runs: the one of the call counts first,
 * then the one of the client. If there is neither, as by default, each client has a gate of its own.
 *
 * @category references
 */
export class RateLimit extends Context.Reference<RateLimit>()(
  "@stevedore/core/RateLimit",
  { defaultValue: (): Service | undefined => undefined }
) {}

/**
 * Gives a gate to clients that are built with this layer, or to the calls of a single effect: one for several clients of
 * a token, or one that asks a database or another process first. It promises what {@link Service} says: `pass` runs the
 * call at most once, and interrupts it if it is interrupted itself. A wait in it may be as long as it likes, because it
 * counts neither against `Timeouts.call` nor against `Timeouts.total`.
 *
 * @example
 * import { RateLimit, ServiceProfile } from "@stevedore/core"
 * import { Effect, Layer } from "effect"
 *
 * // one call of all processes at a time, and the service's own limit besides
 * const oneAtATime = (turn: Effect.Semaphore) =>
 *   Layer.unwrapEffect(
 *     Effect.map(RateLimit.make(ServiceProfile.dovetail.rateLimit), (own) =>
 *       RateLimit.layer({
 *         ...own,
 *         pass: (call, asked) => own.pass((answered) => turn.withPermits(1)(call(answered)), asked)
 *       }))
 *   )
 *
 * @category layers
 */
export const layer = (gate: Service): Layer.Layer<never> => Layer.succeed(RateLimit, gate)

/**
 * Whether so little is left (less than a tenth) that requests that can wait should not be made.
 *
 * @internal
 */
export const isNearEnd = (status: Status): boolean => status.remaining < status.limit / 10

/**
 * Lets every call pass at once.
 *
 * @category constructors
 */
export const open: Service = { pass: (call) => call(() => Effect.void), status: Effect.succeedNone }

const waits = Metric.timerWithBoundaries(
  "stevedore_rate_limit_wait",
  MetricBoundaries.exponential({ start: 100, factor: 2, count: 12 }).values,
  "Waits for the rate limit"
)

interface WaitingCall {
  readonly operation: string
  readonly attempt: number
  /** The longest wait that the retry policy allows, in milliseconds. */
  readonly patience: number
}

// The end of a window is known only to within a second or two, and a one-minute window must still fit into a one-minute
// patience
const slack = Duration.toMillis("2500 millis")

// Setting the wall clock back during a window or a closure would make both longer by as much
const makeTime = (): Effect.Effect<{ readonly now: number; readonly wall: number }> => {
  let known: { readonly clock: Clock.Clock; readonly held: ServerClock.ServerClock } | undefined
  return Effect.map(Effect.clock, (clock) => {
    if (known?.clock !== clock) known = { clock, held: ServerClock.by(clock) }
    return { now: known.held.now(), wall: clock.unsafeCurrentTimeMillis() }
  })
}

/**
 * A gate for one token. `rule` holds until the first response with headers: `ServiceProfile.dovetail` has one (200 per
 * minute), `standard` has none.
 *
 * @category constructors
 */
export const make = (rule?: ServiceProfile["rateLimit"]): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const turnstile = yield* Effect.makeSemaphore(1)
    // Only the one whose turn it is waits
    let wake = constVoid
    let hasMoved = false
    const moved = () => {
      hasMoved = true
      wake()
    }
    const movement = Effect.async<void>((resume) => {
      wake = () => resume(Effect.void)
      if (hasMoved) wake()
    })
    const window = new RateWindow(rule)
    const time = makeTime()

    const refusal = (asked: WaitingCall, wait: number) =>
      new RateLimited({
        operation: asked.operation,
        status: 429,
        issues: [],
        // this exceeds the policy's own limit, so the policy does not retry either
        retryAfter: Duration.millis(wait),
        attempts: asked.attempt - 1
      })

    type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

    const decide = (now: number, patience: number): Decision => {
      const decision = window.decide(now, patience)
      if (decision._tag === "Go") window.enter(now)
      return decision
    }

    const enter = (restore: Restore, asked: WaitingCall): Effect.Effect<void, RateLimited> =>
      Effect.gen(function*() {
        hasMoved = false
        const { now } = yield* time
        const decision = decide(now, asked.patience)
        if (decision._tag === "Go") return
        const wait = Math.ceil(decision.until - now)
        if (wait > asked.patience + (decision.reason === "window" ? slack : 0)) return yield* refusal(asked, wait)
        yield* restore(untilTimer(movement, Duration.millis(wait), Effect.void))
        return yield* enter(restore, asked)
      })

    const tell = (wait: number): Effect.Effect<void> =>
      Effect.all([
        Metric.update(waits, Duration.millis(wait)),
        Effect.annotateCurrentSpan("rateLimit.waitMillis", wait),
        Effect.logDebug(`Waited ${spelled(Duration.millis(wait))} for the service's rate limit`)
      ], { discard: true })

    let waiting = 0

    const enterInTurn = (restore: Restore, asked: WaitingCall) =>
      Effect.suspend(() => {
        waiting += 1
        return Effect.zipRight(
          restore(turnstile.take(1)),
          Effect.ensuring(enter(restore, asked), turnstile.release(1))
        ).pipe(Effect.ensuring(Effect.sync(() => waiting -= 1)))
      })

    const pass: Service["pass"] = (call, asked) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(RetryPolicy.RetryPolicy, ({ longestRetryAfter }) =>
          Effect.flatMap(time, ({ now: came }) => {
            const patience = Duration.toMillis(longestRetryAfter)
            let isAnswered = false
            const entered = (enteredAt: number) => {
              const answered = (answer: Answer) =>
                Effect.map(time, ({ now, wall }) => {
                  isAnswered = true
                  window.answer(answer.status, answer.headers, { enteredAt, now, wall })
                  moved()
                })
              const left = Effect.sync(() => {
                window.leave(isAnswered)
                moved()
              })
              const wait = Math.round(enteredAt - came)
              const called = Effect.suspend(() => call(answered))
              return onExit(restore(wait === 0 ? called : Effect.zipRight(tell(wait), called)), () => left)
            }
            // Most calls need not wait: skipping the turnstile saves a tenth of what a call costs
            return waiting > 0 || decide(came, patience)._tag === "Wait"
              ? Effect.flatMap(
                Effect.zipRight(enterInTurn(restore, { ...asked, patience }), time),
                ({ now }) => entered(now)
              )
              : entered(came)
          }))
      )

    return {
      pass,
      status: Effect.map(time, ({ now, wall }) =>
        Option.map(window.status(now), ({ resetsAt, ...status }) => ({
          ...status,
          resetsAt: resetsAt === undefined ? undefined : Math.round(resetsAt - now + wall)
        })))
    }
  })

export {
  /**
   * How long a server asks to wait, by its `Retry-After`: seconds, or an HTTP date (RFC 9110, 10.2.3) relative to the
   * server's own `Date` if the response has one. A value that cannot be parsed, or lies in the past, is ignored.
   *
   * @internal
   */
  retryAfterIn as retryAfter
} from "./base/time.js"
