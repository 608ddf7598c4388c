import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { monotonicMillis } from "../ServerClock.js"
import { inFiberWhile } from "./ownFiber.js"
import type { Pull } from "./pull.js"

/**
 * Fails if the next element is requested and does not arrive within this time. A slow consumer is not a stall.
 *
 * A single watchdog for all elements: a timeout for each chunk would race two fibers, which costs more than
 * transferring it.
 *
 * @internal
 */
export const unstalled = <A, E, E2>(
  pull: Pull<A, E>,
  limit: Duration.Duration,
  onStall: () => E2
): Effect.Effect<Pull<A, E | E2>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    // Not the wall clock, which may be adjusted during a wait
    const now = () => monotonicMillis(clock)
    const patience = Duration.toMillis(limit)
    let waiting: { readonly since: number; readonly giveUp: () => void } | undefined

    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const left = waiting === undefined ? patience : Math.ceil(waiting.since + patience - now())
      return left > 0 ? Effect.zipRight(Effect.sleep(left), watch) : Effect.sync(() => waiting?.giveUp())
    })
    // Both must end when told to, wherever this runs: within acquireRelease, nothing is interruptible by default
    yield* Effect.forkScoped(Effect.interruptible(watch))

    return inFiberWhile(pull, (fiber) =>
      Effect.async<A, Option.Option<E | E2>>((resume) => {
        waiting = {
          since: now(),
          giveUp: () => resume(Effect.zipRight(Fiber.interrupt(fiber), Effect.fail(Option.some(onStall()))))
        }
        fiber.addObserver((exit) => {
          waiting = undefined
          resume(Effect.flatten(exit))
        })
      }))
  })
