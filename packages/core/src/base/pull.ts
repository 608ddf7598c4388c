import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/**
 * Produces one element at a time, and fails with `None` at the end. Streams are made of this; it is used where a Stream
 * would cost more than what it carries.
 */
export type Pull<A, E> = Effect.Effect<A, Option.Option<E>>

/** The elements of a stream as they come, several at a time. */
export const severalOf = <A, E>(
  stream: Stream.Stream<A, E>
): Effect.Effect<Pull<ReadonlyArray<A>, E>, never, Scope.Scope> =>
  Effect.map(Stream.toPull(stream), Effect.map(Chunk.toReadonlyArray))

export const ofStream = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<Pull<A, E>, never, Scope.Scope> =>
  Effect.map(severalOf(stream), (more) => {
    let several: ReadonlyArray<A> = []
    let index = 0
    const next: Pull<A, E> = Effect.suspend(() => {
      const one = several[index++]
      return index <= several.length && one !== undefined ? Effect.succeed(one) : Effect.flatMap(more, (got) => {
        several = got
        index = 0
        return next
      })
    })
    return next
  })

/** A stream that goes on from one state to the next, one element at a time. */
export const paginate: <S, A, E, R>(
  start: S,
  step: (state: S) => Effect.Effect<readonly [A, Option.Option<S>], E, R>
) => Stream.Stream<A, E, R> = Stream.paginateEffect

/** What is pulled, as a stream. */
export const toStream: <A, E, R>(pull: Effect.Effect<A, Option.Option<E>, R>) => Stream.Stream<A, E, R> =
  Stream.repeatEffectOption
