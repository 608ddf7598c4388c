import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { inFiberWhile } from "./ownFiber.js"
import type { Pull } from "./pull.js"
import { monotonicMillis } from "./serverClock.js"

/**
 * What counts as progress, in bytes: a peer that sends less than this within the time of a stall is as good as one that
 * sends nothing.
 */
export const leastProgress = 1024

/**
 * Fails if the next element is requested and no progress is made within this time: each element is some, and a thousand
 * bytes if `bytesOf` says how many an element has. A slow consumer is not a stall.
 *
 * A single watchdog for all elements: a timeout for each chunk would race two fibers, which costs more than
 * transferring it.
 */
export const unstalled = <A, E, E2>(
  pull: Pull<A, E>,
  limit: Duration.Duration,
  onStall: () => E2,
  bytesOf: (element: A) => number = () => leastProgress
): Effect.Effect<Pull<A, E | E2>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    // Not the wall clock, which may be adjusted during a wait
    const now = () => monotonicMillis(clock)
    const patience = Duration.toMillis(limit)
    // since the last progress
    let waited = 0
    let received = 0
    let waiting: { readonly since: number; readonly giveUp: () => void } | undefined

    const watch: Effect.Effect<void> = Effect.suspend(() => {
      // while nobody waits, nothing can be given up
      const left = waiting === undefined
        ? Math.max(patience - waited, patience / 8)
        : patience - waited - (now() - waiting.since)
      return left > 0 ? Effect.zipRight(Effect.sleep(Math.ceil(left)), watch) : Effect.sync(() => waiting?.giveUp())
    })
    // Both must end when told to, wherever this runs: within acquireRelease, nothing is interruptible by default
    yield* Effect.forkScoped(Effect.interruptible(watch))

    return inFiberWhile(pull, (fiber) =>
      Effect.async<A, Option.Option<E | E2>>((resume) => {
        const since = now()
        waiting = {
          since,
          giveUp: () => resume(Effect.zipRight(Fiber.interrupt(fiber), Effect.fail(Option.some(onStall()))))
        }
        fiber.addObserver((exit) => {
          waiting = undefined
          waited += now() - since
          if (exit._tag === "Success" && exit.value._tag === "Success") received += bytesOf(exit.value.value)
          if (received >= leastProgress) waited = received = 0
          resume(Effect.flatten(exit))
        })
      }))
  })
