import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Who reads what is stored: it goes on being read when it is replaced, and the last reader frees its space. */
export interface Readers<A> {
  /** What is found, read until the scope closes. */
  readonly reading: <E>(found: Effect.Effect<A, E>) => Effect.Effect<A, E, Scope.Scope>
  /** Frees what is not stored any more: now, or when its last reader ends. */
  readonly release: (one: A) => Effect.Effect<void>
}

export const make = <A>(
  idOf: (one: A) => string,
  free: (one: A) => Effect.Effect<void>
): Readers<A> => {
  const counts = new Map<string, number>()
  const released = new Map<string, A>()
  const count = (id: string, change: number) => {
    const readers = (counts.get(id) ?? 0) + change
    if (readers === 0) counts.delete(id)
    else counts.set(id, readers)
  }
  const release = (one: A) =>
    Effect.suspend(() => {
      const id = idOf(one)
      if (counts.has(id)) {
        released.set(id, one)
        return Effect.void
      }
      released.delete(id)
      return free(one)
    })
  const ended = (id: string) =>
    Effect.suspend(() => {
      count(id, -1)
      const one = released.get(id)
      return one === undefined ? Effect.void : release(one)
    })
  return {
    reading: (found) =>
      Effect.acquireRelease(
        Effect.tap(found, (one) => Effect.sync(() => count(idOf(one), 1))),
        (one) => ended(idOf(one))
      ),
    release
  }
}
