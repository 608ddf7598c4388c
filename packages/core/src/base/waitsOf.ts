import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"

/** The waits of a schedule whose every wait is waited for, in their order, and no more than these many. */
export const waitsOf = <A>(
  schedule: Schedule.Schedule<A>,
  most: number
): Effect.Effect<ReadonlyArray<Duration.Duration>> =>
  Effect.gen(function*() {
    const waits: Array<Duration.Duration> = []
    let now = 0
    let state = schedule.initial
    while (waits.length < most) {
      const [next, , decision] = yield* schedule.step(now, undefined, state)
      if (ScheduleDecision.isDone(decision)) break
      const at = Math.max(now, ScheduleIntervals.start(decision.intervals))
      waits.push(Duration.millis(at - now))
      state = next
      now = at
    }
    return waits
  })
