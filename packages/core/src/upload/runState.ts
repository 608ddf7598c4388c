import * as Effect from "effect/Effect"
import * as ServerClock from "../base/clock.js"
import * as RetryPolicy from "../RetryPolicy.js"
import * as RetryBudget from "../service/retryBudget.js"
import * as Timeouts from "../Timeouts.js"
import type { AttemptTimers } from "./attempt.js"
import * as Timers from "./attemptTimers.js"
import type { UploadCounts } from "./counts.js"
import * as TransferSwitch from "./transferSwitch.js"

/** The state of a running upload, whether anybody watches it or not. */
export interface UploadState<out Monitor extends UploadCounts = UploadCounts> {
  readonly monitor: Monitor
  readonly serverClock: ServerClock.ServerClock
  readonly transferSwitch: TransferSwitch.TransferSwitch
  readonly budget: RetryBudget.RetryBudget
  readonly timers: AttemptTimers
  /** Reports that the computer has slept, once for each time. */
  readonly noteSleep: Effect.Effect<void>
}

/** The state of an upload that is about to start, with at most `concurrency` parts in flight. */
export const make = <Monitor extends UploadCounts>(
  monitor: Monitor,
  concurrency: number
): Effect.Effect<UploadState<Monitor>> =>
  Effect.gen(function*() {
    const { attempts } = yield* RetryPolicy.RetryPolicy
    const limits = yield* Timeouts.Timeouts
    const serverClock = yield* ServerClock.make
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
      transferSwitch: TransferSwitch.make(monitor.pause),
      budget: RetryBudget.forUpload({ attempts, concurrency }),
      timers: Timers.make(limits),
      noteSleep
    }
  })
