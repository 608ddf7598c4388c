import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"

interface Entry<A> {
  readonly value: A
  readonly next: Cell<A>
}

type Cell<A> = Deferred.Deferred<Entry<A>>

const cell = <A>(): Cell<A> => Deferred.unsafeMake(FiberId.none)

/** The events of something, for any number of readers. */
export interface EventLog<A> {
  readonly add: (value: A) => void
  /** Nothing is added any more: after the events so far, every reader dies of this. */
  readonly die: (cause: Cause.Cause<never>) => void
  /**
   * From the earliest event that is kept when the stream starts to run, to the last. No reader misses one by being
   * slow.
   */
  readonly events: Stream.Stream<A>
}

/**
 * A chain in which each entry points to the next, so no reader has to be registered. A `PubSub` would do as well, but
 * would be most of what watching an upload adds to a page.
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
    die: (cause) => Deferred.unsafeDone(end, Effect.failCause(cause)),
    events: Stream.suspend(() =>
      Pulls.paginate(earlier[0] ?? end, (at) =>
        Effect.map(Deferred.await(at), ({ next, value }) => [
          value,
          options.isLast(value) ? Option.none() : Option.some(next)
        ]))
    )
  }
}
