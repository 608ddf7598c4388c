import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"

export const waitsOf = <A>(
  schedule: Schedule.Schedule<A>,
  most: number
): Effect.Effect<ReadonlyArray<Duration.Duration>> =>
  Effect.gen(function*() {
    const step = yield* Schedule.toStep(schedule)
    const waits: Array<Duration.Duration> = []
    let now = 0
    while (waits.length < most) {
      const next = yield* Effect.option(step(now, undefined))
      if (Option.isNone(next)) break
      const [, wait] = next.value
      waits.push(wait)
      now += Duration.toMillis(wait)
    }
    return waits
  })
