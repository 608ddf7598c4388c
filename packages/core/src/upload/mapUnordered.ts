import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/pull.js"

/** So many results wait for a slow consumer. Then nothing more is started. */
const held = 16

/**
 * Runs an effect for each element, several concurrently, and emits each result as soon as it is known.
 * `Stream.mapEffect` does the same, but runs a stream of its own for each element, which costs as much as one of a small
 * file's requests.
 */
export const mapUnordered = <A, E, R, B, R2>(
  elements: Stream.Stream<A, E, R>,
  atOnce: number,
  run: (element: A) => Effect.Effect<B, never, R2>
): Stream.Stream<B, E, R | R2> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const scope = yield* Effect.scope
    const places = yield* Effect.makeSemaphore(atOnce)
    const results = yield* Effect.acquireRelease(Queue.bounded<Exit.Exit<B, Option.Option<E>>>(held), Queue.shutdown)
    // Interruptible also in an uninterruptible region such as acquireRelease: all wait for a place, or for a consumer
    const forkHere = <A, R>(effect: Effect.Effect<A, never, R>) => Effect.forkIn(Effect.interruptible(effect), scope)
    const told = (result: Exit.Exit<B, Option.Option<E>>) => Queue.offer(results, result)
    const start = (element: A) =>
      Effect.zipRight(
        places.take(1),
        forkHere(Effect.zipRight(Effect.flatMap(Effect.exit(run(element)), told), places.release(1)))
      )
    yield* Stream.runForEach(elements, start).pipe(
      Effect.zipRight(places.take(atOnce)),
      Effect.matchCauseEffect({
        onFailure: (cause) => told(Exit.failCause(Cause.map(cause, Option.some))),
        onSuccess: () => told(Exit.fail(Option.none()))
      }),
      forkHere
    )
    return Pulls.toStream(Effect.flatten(Queue.take(results)))
  }))
