import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/**
 * Produces one element at a time, and fails with `None` at the end. Streams are made of this; it is used where a Stream
 * would cost more than what it carries.
 *
 * @internal
 */
export type Pull<A, E> = Effect.Effect<A, Option.Option<E>>

/** @internal */
export const ofStream = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<Pull<A, E>, never, Scope.Scope> =>
  Effect.map(Stream.toPull(stream), (more) => {
    let chunk: ReadonlyArray<A> = []
    let index = 0
    const next: Pull<A, E> = Effect.suspend(() => {
      const one = chunk[index++]
      return index <= chunk.length && one !== undefined ? Effect.succeed(one) : Effect.flatMap(more, (got) => {
        chunk = Chunk.toReadonlyArray(got)
        index = 0
        return next
      })
    })
    return next
  })
