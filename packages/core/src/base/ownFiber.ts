import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
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

/**
 * The result of an effect, or what `late` gives once it has taken this long, or what `onCut` calls back with before. Like
 * {@link inOwnFiber}, it leaves nothing running. Effect's races cost many times as many steps: their losers may be
 * anything, but a timer only waits, so nobody waits for its end.
 */
export const untilTimer = <A, E, R, B, E2, C = never>(
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
          return running.unsafePoll() === null ? Fiber.interrupt(running) : Effect.void
        })
      }))
  )

/** A fiber that runs what it is given, one after another. */
interface Resting {
  readonly fiber: Fiber.Fiber<void>
  readonly give: (effect: Effect.Effect<void>) => void
}

const atRest: Effect.Effect<Resting> = /* #__PURE__ */ Effect.suspend(() => {
  let next: Effect.Effect<void> | undefined
  let take: ((effect: Effect.Effect<void>) => void) | undefined
  const loop: Effect.Effect<void> = Effect.flatMap(
    Effect.async<void>((resume) => {
      take = resume
      if (next !== undefined) resume(next)
      next = undefined
    }),
    () => loop
  )
  const give = (effect: Effect.Effect<void>) => {
    if (take === undefined) next = effect
    else take(effect)
    take = undefined
  }
  return Effect.map(Effect.forkDaemon(Effect.interruptible(loop)), (fiber) => ({ fiber, give }))
})

/** Runs effects that may hang in fibers that are used again. */
export interface Aside {
  /**
   * The result of an effect, or what `late` gives once it has taken this long. It may not be interruptible either: it is
   * interrupted, and its end is not waited for.
   */
  readonly run: <A>(effect: Effect.Effect<A>, limit: Duration.Duration, late: Effect.Effect<A>) => Effect.Effect<A>
  /** Nothing runs any more. */
  readonly end: () => void
}

/** No fiber before the first effect, and more than one only for those that run at the same time. */
export const aside: Effect.Effect<Aside> = /* #__PURE__ */ Effect.map(timer, (after) => {
  const resting: Array<Resting> = []
  const begun = Effect.uninterruptible(Effect.map(atRest, (one) => void resting.push(one)))
  const run: Aside["run"] = <A>(effect: Effect.Effect<A>, limit: Duration.Duration, late: Effect.Effect<A>) => {
    const given = Effect.async<A>((resume) => {
      const one = resting.pop()
      if (one === undefined) return resume(run(effect, limit, late))
      let isLeft = false
      const left = Effect.suspend(() => {
        isLeft = true
        return Fiber.interruptFork(one.fiber)
      })
      const cancel = after(limit, Effect.zipRight(left, Effect.map(Effect.exit(late), resume)))
      const over = (exit: Exit.Exit<A>) => {
        if (isLeft) return
        cancel()
        resting.push(one)
        resume(exit)
      }
      one.give(Effect.matchCause(effect, {
        onFailure: (cause) => over(Exit.failCause(cause)),
        onSuccess: (value) => over(Exit.succeed(value))
      }))
      return Effect.zipRight(Effect.sync(cancel), left)
    })
    return Effect.suspend(() => resting.length > 0 ? given : Effect.zipRight(begun, given))
  }
  return { run, end: () => resting.forEach(({ give }) => give(Effect.interrupt)) }
})
