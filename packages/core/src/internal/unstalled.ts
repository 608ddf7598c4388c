import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/**
 * Fails when the stream is asked for a chunk and gives none for this long. A slow consumer is no stall.
 *
 * One watch for the whole stream: `Stream.timeoutFail` races two fibers for each chunk, which costs more than the
 * transfer of it.
 *
 * @internal
 */
export const unstalled = <A, E, E2>(
  stream: Stream.Stream<A, E>,
  limit: Duration.Duration,
  onStall: () => E2
): Stream.Stream<A, E | E2> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const pull = yield* Stream.toPull(stream)
    const clock = yield* Effect.clock
    const patience = Duration.toMillis(limit)
    let waiting: { readonly since: number; readonly giveUp: () => void } | undefined

    const watched = Effect.flatMap(Effect.fork(pull), (fiber) =>
      Effect.async<Effect.Effect.Success<typeof pull>, Option.Option<E | E2>>((resume) => {
        waiting = {
          since: clock.unsafeCurrentTimeMillis(),
          giveUp: () =>
            resume(Effect.zipRight(Fiber.interrupt(fiber), Effect.fail(Option.some(onStall()))))
        }
        fiber.addObserver((exit) => {
          waiting = undefined
          resume(exit)
        })
        return Fiber.interrupt(fiber)
      }))

    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const left = waiting === undefined ? patience : waiting.since + patience - clock.unsafeCurrentTimeMillis()
      return left > 0 ? Effect.zipRight(Effect.sleep(left), watch) : Effect.sync(() =>
        waiting?.giveUp()
      )
    })
    yield* Effect.forkScoped(watch)
    return Stream.repeatEffectChunkOption(watched)
  }))
