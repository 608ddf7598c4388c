import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as HashSet from "effect/HashSet"

// No real fiber has this id: in the cause of an exit, it says that the end was no failure.
const asked = FiberId.runtime(-2, 0)

/** Marks the interruption of what runs until it is interrupted: asked to end, it has done what it should. */
export const endingWell = <A, E, R>(service: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.onInterrupt(service, () =>
    Effect.withFiberRuntime((fiber) => {
      fiber.unsafeInterruptAsFork(asked)
      // the mark is taken in between two steps
      return Effect.yieldNow()
    }))

export const isIn = <E>(cause: Cause.Cause<E>): boolean => HashSet.has(Cause.interruptors(cause), asked)
