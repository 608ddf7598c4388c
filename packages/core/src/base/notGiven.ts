import * as Effect from "effect/Effect"

/** An operation that a `layerNoop` was not given: a defect that names it. */
export const notGiven = (operation: string) => (): Effect.Effect<never> =>
  Effect.dieMessage(`${operation} was called, but layerNoop was not given it`)
