/**
 * What one upload shares across its sessions, parts and attempts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AttemptTimers } from "./AttemptWatch.js"
import * as Timers from "./internal/attemptTimers.js"
import type * as RetryBudget from "./RetryBudget.js"
import * as Budget from "./RetryBudget.js"
import * as RetryPolicy from "./RetryPolicy.js"
import type { ServerClock } from "./ServerClock.js"
import * as Clock from "./ServerClock.js"
import * as Timeouts from "./Timeouts.js"
import type { TransferSwitch } from "./TransferSwitch.js"
import * as Switch from "./TransferSwitch.js"
import type { UploadMonitor } from "./UploadMonitor.js"
import * as Monitor from "./UploadMonitor.js"

/**
 * The state of a running upload, for the engine.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadRun {
  readonly monitor: UploadMonitor
  readonly serverClock: ServerClock
  readonly transferSwitch: TransferSwitch
  readonly budget: RetryBudget.RetryBudget
  readonly timers: AttemptTimers
  /** Reports that the computer has slept, once for each time. */
  readonly noteSleep: Effect.Effect<void>
}

/**
 * The state of an upload of this size that is about to start, with at most `concurrency` parts in flight. The retry
 * policy and the timeouts in force apply to all of it.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (size: number, concurrency: number): Effect.Effect<UploadRun> =>
  Effect.gen(function*() {
    const { attempts } = yield* RetryPolicy.RetryPolicy
    const limits = yield* Timeouts.Timeouts
    const monitor = yield* Monitor.make(size)
    const serverClock = yield* Clock.make
    let noted = 0
    const noteSleep = Effect.suspend(() => {
      const sleeps = serverClock.sleeps()
      if (sleeps === noted) return Effect.void
      noted = sleeps
      return monitor.publish({ _tag: "Woke" })
    })
    return {
      monitor,
      serverClock,
      transferSwitch: Switch.make(monitor.pause),
      budget: Budget.forUpload({ attempts, concurrency }),
      timers: Timers.make(limits),
      noteSleep
    }
  })

/**
 * Stops everything in flight until {@link resume}. No call to the service is repeated because of it: a completion under
 * way finishes.
 *
 * @since 0.1.0
 * @category control
 */
export const pause = ({ transferSwitch }: UploadRun): Effect.Effect<void> => transferSwitch.turnOff

/**
 * Continues after {@link pause}.
 *
 * @since 0.1.0
 * @category control
 */
export const resume = ({ transferSwitch }: UploadRun): Effect.Effect<void> => transferSwitch.turnOn

/**
 * Like {@link pause} for as long as the scope is open: {@link resume} does not end it, and it does not end a pause.
 *
 * @since 0.1.0
 * @category control
 */
export const pauseScoped = ({ transferSwitch }: UploadRun): Effect.Effect<void, never, Scope.Scope> =>
  transferSwitch.holdOff
