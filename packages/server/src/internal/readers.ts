import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Who reads what is stored: it goes on being read when it is replaced, and the last reader frees its space. */
export interface Readers<A> {
  /** What is found, read until the scope closes. */
  readonly reading: <E>(found: Effect.Effect<A, E>) => Effect.Effect<A, E, Scope.Scope>
  /** Frees what is neither stored nor read any more. */
  readonly release: (one: A) => Effect.Effect<void>
}

export const make = <A>(
  isStored: (one: A) => boolean,
  free: (one: A) => Effect.Effect<void>
): Readers<A> => {
  const counts = new Map<A, number>()
  const count = (one: A, change: number) => {
    const readers = (counts.get(one) ?? 0) + change
    if (readers === 0) counts.delete(one)
    else counts.set(one, readers)
  }
  const release = (one: A) => Effect.suspend(() => counts.has(one) || isStored(one) ? Effect.void : free(one))
  return {
    reading: (found) =>
      Effect.acquireRelease(
        Effect.tap(found, (one) => Effect.sync(() => count(one, 1))),
        (one) => Effect.zipRight(Effect.sync(() => count(one, -1)), release(one))
      ),
    release
  }
}
