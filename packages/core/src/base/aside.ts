/** Runs what may hang in fibers that are used again. Not in `ownFiber`: a page does without it. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { timer } from "./timer.js"

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
}

/** No fiber before the first effect, and more than one only for those that run at the same time. */
export const aside = (scope: Scope.Scope): Effect.Effect<Aside> =>
  Effect.flatMap(timer, (after) => {
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
    const end = Effect.sync(() => resting.forEach(({ give }) => give(Effect.interrupt)))
    return Effect.as(Scope.addFinalizer(scope, end), { run })
  })
