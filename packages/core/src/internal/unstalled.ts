import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { monotonicMillis } from "../ServerClock.js"
import { inFiberWhile } from "./ownFiber.js"
import type { Pull } from "./pull.js"

/**
 * Fails when the next is asked for and does not come for this long. A slow taker is no stall.
 *
 * One watch for all: a time-out for each chunk races two fibers, which costs more than the transfer of it.
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
    // The wall clock may be set while something is waited for; this one goes on
    const now = () => monotonicMillis(clock)
    const patience = Duration.toMillis(limit)
    let waiting: { readonly since: number; readonly giveUp: () => void } | undefined

    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const left = waiting === undefined ? patience : Math.ceil(waiting.since + patience - now())
      return left > 0 ? Effect.zipRight(Effect.sleep(left), watch) : Effect.sync(() => waiting?.giveUp())
    })
    // Both have to end when they are told to, wherever this runs: within acquireRelease nothing may be interrupted
    yield* Effect.forkScoped(Effect.interruptible(watch))

    return inFiberWhile(Effect.interruptible(pull), (fiber) =>
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
