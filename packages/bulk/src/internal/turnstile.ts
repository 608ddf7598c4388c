import * as Effect from "effect/Effect"

/** How many files a process uploads at once. */
export interface Turnstile {
  readonly one: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Nothing else runs meanwhile. */
  readonly alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/**
 * In order of arrival, so that whoever wants all permits gets them although others only want one.
 */
export const make = (permits: number): Effect.Effect<Turnstile> =>
  Effect.map(Effect.all([Effect.makeSemaphore(1), Effect.makeSemaphore(permits)]), ([turn, free]) => {
    const taking = (count: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.uninterruptibleMask((restore) =>
        restore(turn.take(1)).pipe(
          Effect.flatMap(() => Effect.ensuring(restore(free.take(count)), turn.release(1))),
          Effect.flatMap(() => Effect.ensuring(restore(effect), free.release(count)))
        )
      )
    return { one: taking(1), alone: taking(permits) }
  })
