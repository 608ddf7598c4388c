/** How an effect runs: in a fiber of its own, to its end, within a limit, or not before it is needed. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { monotonicMillis } from "./clock.js"
import { timer } from "./effect.js"
import type { Pull } from "./effect.js"

/** `Effect.onExit` for within a region that nothing interrupts but what it restores: without a region of its own. */
export const onExit = <A, E, R, R2>(
  effect: Effect.Effect<A, E, R>,
  last: (exit: Exit.Exit<A, E>) => Effect.Effect<unknown, never, R2>
): Effect.Effect<A, E, R | R2> => Effect.flatMap(Effect.exit(effect), (exit) => Effect.zipRight(last(exit), exit))

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
          return onExit(restore(first), () => {
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

/** Closes the connection of a failed attempt before the next one starts. Its scope would keep it open to the end. */
export const closedOnFailure = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.flatMap(Effect.scope, (parent) => Scope.fork(parent, parent.strategy)),
      (own) =>
        onExit(
          restore(Scope.extend(attempt, own)),
          (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit)
        )
    )
  )

/**
 * A module that few uploads need: it is loaded once it is needed, and a page does not begin with it. What a page cannot
 * load is asked for again by whoever needs it next.
 */
export const lazily = <Module, E>(load: () => Promise<Module>, failed: () => E): Effect.Effect<Module, E> => {
  let loaded: Module | undefined
  return Effect.suspend(() =>
    loaded === undefined
      ? Effect.map(Effect.tryPromise({ try: load, catch: failed }), (module) => {
        loaded = module
        return module
      })
      : Effect.succeed(loaded)
  )
}

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
