import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

interface Entry<A> {
  readonly value: A
  readonly next: Cell<A>
}

type Cell<A> = Deferred.Deferred<Entry<A>>

const cell = <A>(): Cell<A> => Deferred.unsafeMake(FiberId.none)

/** What happens, for any number of readers. */
export interface EventLog<A> {
  readonly add: (value: A) => void
  /** From the earliest that is kept when it begins to run, to the last one. Nobody misses one by being slow. */
  readonly events: Stream.Stream<A>
}

/**
 * A chain in which each entry leads to the next one, so that no reader has to be known. A `PubSub` would do as well,
 * and would be most of what it costs a page to watch an upload.
 *
 * @internal
 */
export const make = <A>(
  options: { readonly kept: number; readonly isLast: (value: A) => boolean }
): EventLog<A> => {
  const earlier: Array<Cell<A>> = []
  let end = cell<A>()
  return {
    add: (value) => {
      const next = cell<A>()
      Deferred.unsafeDone(end, Effect.succeed({ value, next }))
      earlier.push(end)
      if (earlier.length > options.kept) earlier.shift()
      end = next
    },
    events: Stream.suspend(() =>
      Stream.paginateEffect(earlier[0] ?? end, (at) =>
        Effect.map(Deferred.await(at), ({ next, value }) => [
          value,
          options.isLast(value) ? Option.none() : Option.some(next)
        ]))
    )
  }
}
