import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/pull.js"

/**
 * Like `Stream.paginateEffect`, but once the first element was emitted, up to `ahead` steps run before they are
 * requested, while `mayHurry` allows it. `Stream.buffer` cannot do this: it is always one step further ahead than it
 * says. If the stream ends early, the running step is interrupted.
 */
export const fetchedAhead = <S, A, E, R, R2>(
  start: S,
  step: (state: S) => Effect.Effect<readonly [A, Option.Option<S>], E, R>,
  options: { readonly ahead: number; readonly mayHurry: Effect.Effect<boolean, never, R2> }
): Stream.Stream<A, E, R | R2> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const results = yield* Queue.unbounded<Exit.Exit<A, Option.Option<E>>>()
    const moved = yield* Effect.makeLatch()
    let asked = 0
    let given = 0

    const permission = (place: number): Effect.Effect<void, never, R2> =>
      Effect.gen(function*() {
        yield* moved.close
        if (place < asked) return
        if (given > 0 && place < given + options.ahead && (yield* options.mayHurry)) return
        yield* moved.await
        return yield* permission(place)
      })

    // A loop: a generator that goes on with another one stays, and every page with it
    const produce = Effect.gen(function*() {
      let state = start
      for (let place = 0;; place++) {
        const exit = yield* Effect.exit(Effect.zipRight(permission(place), step(state)))
        if (Exit.isFailure(exit)) {
          return yield* Queue.offer(results, Exit.failCause(Cause.map(exit.cause, Option.some)))
        }
        const [element, next] = exit.value
        yield* Queue.offer(results, Exit.succeed(element))
        if (Option.isNone(next)) return yield* Queue.offer(results, Exit.fail(Option.none()))
        state = next.value
      }
    })

    // Interruptible also in an uninterruptible region such as acquireRelease: it waits until it is asked for more, or
    // told to end
    yield* Effect.forkScoped(Effect.interruptible(produce))
    return Pulls.toStream(Effect.gen(function*() {
      asked++
      yield* moved.open
      const element = yield* Effect.flatten(Queue.take(results))
      given++
      yield* moved.open
      return element
    }))
  }))
