import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"

/** Whether the fibers of an effect move: whatever they wait for, none has taken a step or is about to. */
export interface Activity {
  /** Whether one has moved since this was last asked. */
  readonly hasMoved: () => boolean
  /** Watches an effect and all fibers that it starts. */
  readonly watch: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const watching = (onStep: () => void): Scheduler.Scheduler =>
  Scheduler.make(
    (task, priority, fiber) => {
      onStep()
      Scheduler.defaultScheduler.scheduleTask(task, priority, fiber)
    },
    (fiber) => {
      onStep()
      return Scheduler.defaultScheduler.shouldYield(fiber)
    }
  )

export const makeActivity = (): Activity => {
  let moved = false
  const scheduler = watching(() => {
    moved = true
  })
  return {
    hasMoved: () => {
      const before = moved
      moved = false
      return before
    },
    watch: Effect.withScheduler(scheduler)
  }
}
