import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import { lastly } from "./lastly.js"
import { timer } from "./timer.js"

// As an Exit, because Effect logs the failure of a forked fiber as unhandled
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.forkDaemon(Effect.exit(Effect.interruptible(effect)))

/**
 * Runs an effect in a fiber without a parent, waits for it as told, and leaves nothing of it running. It has no parent
 * because a fiber interrupts its children even while it is itself uninterruptible. What runs in it is interruptible
 * wherever this runs, so that within it a failure or a timeout ends at once what runs beside it; from outside, only this
 * fiber interrupts it.
 */
export const inFiberWhile = <A, E, R, B, E2>(
  effect: Effect.Effect<A, E, R>,
  wait: (fiber: Fiber.RuntimeFiber<Exit.Exit<A, E>>) => Effect.Effect<B, E2>
): Effect.Effect<B, E2, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(started(effect), (fiber) => Effect.onInterrupt(restore(wait(fiber)), () => Fiber.interrupt(fiber)))
  )

/**
 * Runs an effect in a fiber of its own. Inside a concurrent `Effect.forEach`, the fibers of a race belong to the fiber
 * around the `forEach`: a race outlives the failure of what runs beside it, and a timeout is waited for. In a fiber of
 * its own, both end at once with it.
 */
export const inOwnFiber = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  inFiberWhile(effect, (fiber) => Effect.flatten(Fiber.join(fiber)))

const untilTimerWith =
  (stop: (fiber: Fiber.RuntimeFiber<unknown>) => Effect.Effect<unknown>) =>
  <A, E, R, B, E2, C = never>(
    effect: Effect.Effect<A, E, R>,
    limit: Duration.Duration,
    late: Effect.Effect<B, E2>,
    onCut?: (cut: (result: Effect.Effect<C>) => void) => () => void
  ): Effect.Effect<A | B | C, E | E2, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(timer, (after) =>
        Effect.flatMap(started(effect), (running) => {
          let cancel = constVoid
          let forget: (() => void) | undefined
          const first = Effect.async<A | B | C, E | E2>((resume) => {
            running.addObserver((exit) => resume(Effect.flatten(exit)))
            cancel = after(limit, Effect.map(Effect.exit(late), resume))
            forget = onCut?.(resume)
          })
          return lastly(restore(first), () => {
            forget?.()
            cancel()
            return running.unsafePoll() === null ? stop(running) : Effect.void
          })
        }))
    )

/**
 * The result of an effect, or what `late` gives once it has taken this long, or what `onCut` calls back with before. Like
 * {@link inOwnFiber}, it leaves nothing running. Effect's races cost many times as many steps: their losers may be
 * anything, but a timer only waits, so nobody waits for its end.
 */
export const untilTimer = /* #__PURE__ */ untilTimerWith(Fiber.interrupt)

/** The same for what may not be interruptible: its end is not waited for. */
export const untilTimerUnwaited = /* #__PURE__ */ untilTimerWith(Fiber.interruptFork)
