import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"

/** `Effect.onExit` for within a region that nothing interrupts but what it restores: without a region of its own. */
export const lastly = <A, E, R, R2>(
  effect: Effect.Effect<A, E, R>,
  last: (exit: Exit.Exit<A, E>) => Effect.Effect<unknown, never, R2>
): Effect.Effect<A, E, R | R2> => Effect.flatMap(Effect.exit(effect), (exit) => Effect.zipRight(last(exit), exit))
