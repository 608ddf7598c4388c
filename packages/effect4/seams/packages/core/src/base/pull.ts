import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

export const severalOf = <A, E>(
  stream: Stream.Stream<A, E>
): Effect.Effect<Pull<ReadonlyArray<A>, E>, never, Scope.Scope> =>
  Effect.map(
    Stream.toPull(stream),
    Effect.mapError((error): Option.Option<E> => Cause.isDone(error) ? Option.none() : Option.some(error))
  )

export const paginate = <S, A, E, R>(
  start: S,
  step: (state: S) => Effect.Effect<readonly [A, Option.Option<S>], E, R>
): Stream.Stream<A, E, R> =>
  Stream.paginate(start, (state: S) => Effect.map(step(state), ([element, next]) => [[element], next] as const))

export const toStream = <A, E, R>(pull: Effect.Effect<A, Option.Option<E>, R>): Stream.Stream<A, E, R> =>
  Stream.fromPull(Effect.succeed(Effect.matchEffect(pull, {
    onFailure: (end): Effect.Effect<never, E | Cause.Done> =>
      Option.isNone(end) ? Cause.done() : Effect.fail(end.value),
    onSuccess: (element) => Effect.succeed([element] as const)
  })))
