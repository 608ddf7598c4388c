import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"

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
    const results: Array<Exit.Exit<B, Option.Option<E>>> = []
    let running = 0
    const looks = new Set<() => void>()
    const changed = () => looks.forEach((look) => look())
    const until = (isMet: () => boolean) =>
      Effect.async<void>((resume) => {
        const look = () => {
          if (isMet() && looks.delete(look)) resume(Effect.void)
        }
        looks.add(look)
        look()
      })
    const told = (result: Exit.Exit<B, Option.Option<E>>) => {
      results.push(result)
      changed()
    }
    // Interruptible also in an uninterruptible region such as acquireRelease: all wait for a place, or for a consumer
    const forkHere = <A, R>(effect: Effect.Effect<A, never, R>) => Effect.forkIn(Effect.interruptible(effect), scope)
    const isFree = () => running < atOnce && running + results.length < atOnce + held
    const start = (element: A) =>
      Effect.flatMap(until(isFree), () => {
        running += 1
        return forkHere(Effect.map(Effect.exit(run(element)), (result) => {
          running -= 1
          told(result)
        }))
      })
    yield* Stream.runForEach(elements, start).pipe(
      Effect.zipRight(until(() => running === 0)),
      Effect.matchCause({
        onFailure: (cause) => told(Exit.failCause(Cause.map(cause, Option.some))),
        onSuccess: () => told(Exit.fail(Option.none()))
      }),
      forkHere
    )
    return Pulls.toStream(Effect.flatMap(until(() => results.length > 0), () => {
      const result = results.shift() ?? Exit.fail(Option.none())
      changed()
      return result
    }))
  }))
